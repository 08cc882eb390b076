# The steps of the proofs thread-sanitizer and address-sanitizer. Sourced, with the sanitizer's name in `sanitizer`:
# builds everything with it in a separate directory, runs the complete suite, whose mounts have sanitized daemons, and
# fails on any report.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=${SANITIZER_BUILD:-$ROOT/.build/$sanitizer}
reports=$WORK/reports
mkdir -p "$build" "$reports"
# Daemons of the ordinary user of the tests write here, too.
chmod 1777 "$reports"

flags=()
if [ "$sanitizer" = thread ]; then
    clang -O1 -g -fPIC -c Tests/Sanitizers/mutex.c -o "$build/mutex.o"
    flags=(-Xlinker "$build/mutex.o")
fi
swift build --build-tests --sanitize="$sanitizer" --scratch-path "$build" "${flags[@]}" >"$WORK/build" 2>&1 ||
    { tail -n 40 "$WORK/build" >&2; fail "the build with the $sanitizer sanitizer"; }

# The lines that are not comments.
listed() { grep -v '^#' "$1"; }
skipped=()
while read -r line; do skipped+=(--skip "$line"); done < <(listed Tests/Sanitizers/left-out)
# Without disable_coredump, a sanitizer changes the limit of core dumps, which case E6-run compares.
options="disable_coredump=0:halt_on_error=0:exitcode=66:log_path=$reports/report:suppressions=$ROOT/Tests/Sanitizers/suppressions"
export TSAN_OPTIONS=$options ASAN_OPTIONS=$options:detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16:thread_local_quarantine_size_kb=64
export KEYCHAINFS_CASE_SECONDS=900
export KEYCHAINFS_CASES_LEFT_OUT=$(listed Tests/Sanitizers/left-out-cases | paste -sd ' ')
# Two processes, as in scripts/test: an exit test waits for any child of its process, and never ends if there are abandoned ones.
waiting='^(FuseTests|LinuxSupportTests|KeychainConnectionTests|KeychainMountTests|MountTests)\.'
for part in --skip --filter; do
    "$build"/debug/keychainfsPackageTests.xctest --testing-library swift-testing "$part" "$waiting" "${skipped[@]}" "$@" >>"$WORK/log" 2>&1 ||
        status=$?
done
if grep -lE '(WARNING|ERROR): (Thread|Address)Sanitizer' "$reports"/* >"$WORK/with" 2>/dev/null; then
    head -n 60 "$(head -n 1 "$WORK/with")" >&2
    fail "$(wc -l <"$WORK/with") processes reported"
fi
[ "${status:-0}" = 0 ] || { grep -aE '✘|recorded an issue' "$WORK/log" >&2; fail "tests under the $sanitizer sanitizer"; }
cases "$(grep -aoE 'Test run with [0-9]+' "$WORK/log" | awk '{ sum += $NF } END { print sum }')"
