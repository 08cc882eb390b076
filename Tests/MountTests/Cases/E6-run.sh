# E6: `run` puts secrets into the environment of a program and replaces itself by it. The program inherits nothing else of it. If a
# secret cannot be read, nothing is started.
# users: both
# seconds: 15
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"; R=("$KEYCHAINFS" run)
P="$MNT/generic-passwords"; mkdir "$P/app" "$P/other"
printf 'geheim\n' > "$P/app/PASSWORD"; printf 'a\n\n' > "$P/app/lines"; printf '\377=x y' > "$P/app/bytes"; printf 1 > "$P/other/_x1"
: > "$P/app/empty"; printf '\n' > "$P/app/line_feed"; printf 'a\0b' > "$P/app/zero"
value() { expect "$2" "$(printenv_of "$1" "${@:3}")" "the variable $1 of 'run ${*:3}'"; }
# printenv_of NAME OPTION…: the value, and a point, which keeps line feeds at its end.
printenv_of() { local name=$1; shift; "${R[@]}" "$@" python3 -I -c '
import os, sys; sys.stdout.buffer.write(os.environb[sys.argv[1].encode()] + b".")' "$name"; }

# --env: without one line feed at the end; all other bytes unchanged; the first '=' separates.
value DB geheim. --env DB=app/PASSWORD; value DB $'a\n.' --env DB=app/lines; value DB $'\377=x y.' --env DB=app/bytes
value DB geheim. --env=DB=keychain:app/PASSWORD --; value DB geheim. --env "DB=$P/app/PASSWORD"
mkdir "$P/a=b"; printf 2 > "$P/a=b/c=d"; value _1 2. --env '_1=a=b/c=d'
# --env-folder: the items that are called like variables, others are never read.
for name in '$(touch started)' '-rf' '1A' 'A-B' 'line%0Afeed' 'ä'; do printf x > "$P/other/$name"; done
: > "$P/other/not a name"; mkdir "$CASE_DIR/w"; cd "$CASE_DIR/w"
expect "_x1=1" "$(env -i KEYCHAINFS_MOUNT="$MNT" "${R[@]}" --env-folder other -- env | grep -v '^KEYCHAINFS')" "variables of a folder"
for folder in other/ keychain:other generic-passwords/other "$P/other"; do value _x1 1. --env-folder "$folder"; done
(cd "$P"; value _x1 1. --env-folder other; value _x1 1. --env-folder ./other)
expect 0 "$(ls "$CASE_DIR/w" | wc -l)" "files in the working directory"

# --env-file: a plain file, a pipe, or an item.
cat > "$CASE_DIR/env" <<'FILE'
# comment
export DB=keychain:app/PASSWORD
QUOTED = "keychain:app/PASSWORD"
FILE
code 64 'env, line 3: the name' run --env-file "$CASE_DIR/env" true
sed -i 's/QUOTED = /QUOTED=/' "$CASE_DIR/env"; cat >> "$CASE_DIR/env" <<'FILE'
PLAIN='$HOME `id` # x'  # comment
WORD=a b # comment
EMPTY=
FILE
value DB geheim. --env-file "$CASE_DIR/env"; value QUOTED geheim. --env-file "$CASE_DIR/env"; value EMPTY . --env-file "$CASE_DIR/env"
value PLAIN '$HOME `id` # x.' --env-file "$CASE_DIR/env"; value WORD 'a b.' --env-file "$CASE_DIR/env"
value DB geheim. --env-file <(cat "$CASE_DIR/env"); cp "$CASE_DIR/env" "$P/app/file"; value DB geheim. --env-file "$P/app/file"
mkfifo "$CASE_DIR/fifo"; (sleep 0.5; cat "$CASE_DIR/env" > "$CASE_DIR/fifo") & value DB geheim. --env-file "$CASE_DIR/fifo"; wait $!

# Precedence: option, file, folder, inherited; the last of several. A value that does not count is not read.
printf 'PASSWORD=of-file\nPASSWORD=last\n_x1=keychain:none/x\n' > "$CASE_DIR/env2"; export PASSWORD=inherited
value PASSWORD inherited. --env DB=other/_x1; value PASSWORD geheim. --env-folder app --env-folder other --env empty=other/_x1 \
    --env line_feed=other/_x1 --env zero=other/_x1 --env bytes=other/_x1
value PASSWORD last. --env-file "$CASE_DIR/env2" --env _x1=other/_x1; printf 'PASSWORD=x\n' > "$CASE_DIR/env3"
value PASSWORD x. --env-file "$CASE_DIR/env2" --env-file "$CASE_DIR/env3" --env _x1=other/_x1
value PASSWORD 1. --env PASSWORD=none/x --env PASSWORD=other/_x1 --env-file "$CASE_DIR/env3"
# A variable that occurs twice in the inherited environment does not survive. PATH is that of the program.
mkdir "$CASE_DIR/bin"; printf '#!/bin/sh\necho found' > "$CASE_DIR/bin/only-here"; chmod +x "$CASE_DIR/bin/only-here"
printf 'PATH=%s:%s\n' "$CASE_DIR/bin" "$PATH" > "$CASE_DIR/env4"
expect found "$("${R[@]}" --env-file "$CASE_DIR/env4" only-here)" "the PATH of the environment"
python3 -I - "$KEYCHAINFS" <<'PY' || fail "a variable that is inherited twice"
import ctypes, os, sys
if os.fork() == 0:
    libc = ctypes.CDLL(None)
    arguments = [sys.argv[1].encode(), b"run", b"--env", b"PASSWORD=other/_x1", b"env", None]
    entries = [b"PASSWORD=1", b"PASSWORD=2", b"PASSWORDS=3", b"KEYCHAINFS_MOUNT=" + os.environb[b"KEYCHAINFS_MOUNT"],
               b"PATH=/usr/bin:/bin", b"\xff", None]
    read, write = os.pipe(); out = os.fork()
    if out == 0:
        os.dup2(write, 1)
        libc.execve(arguments[0], (ctypes.c_char_p * len(arguments))(*arguments), (ctypes.c_char_p * len(entries))(*entries))
    os.close(write); lines = b"".join(iter(lambda: os.read(read, 65536), b"")).split(b"\n")
    passwords = [line for line in lines if line.startswith(b"PASSWORD")]
    os._exit(0 if passwords == [b"PASSWORDS=3", b"PASSWORD=1"] and b"\xff" in lines else print(lines) or 1)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
PY

# Everything else is the caller's: compared with the same program without `run`.
cat > "$CASE_DIR/inherited.py" <<'PY'
import os, resource, signal, sys
status = open("/proc/self/status").read().split("\n")
print([line for line in status if line.split(":")[0] in
       ("Umask", "SigIgn", "SigBlk", "SigCgt", "NoNewPrivs", "Seccomp", "CapEff", "CapBnd", "THP_enabled", "VmLck")])
print({name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")})
print(os.getcwd(), os.getpid() == int(sys.argv[1]), os.getppid(), os.getpgrp() - os.getsid(0), os.nice(0))
print({name: value for name, value in os.environb.items() if name not in (b"ADDED", b"_")})
print(sorted(set(os.listdir("/proc/self/fd")) - {str(max(map(int, os.listdir("/proc/self/fd"))))}), os.fsencode(sys.argv[2]))
import ctypes
print([ctypes.CDLL(None).prctl(option, 0, 0, 0, 0) for option in (3, 7, 27, 30, 39)])
PY
compare() { # SHELL-COMMANDS: what both find, after them
    for how in direct run; do
        local prefix=(); [ "$how" = direct ] || prefix=("${R[@]}" --env ADDED=other/_x1)
        (eval "$1"; exec "${prefix[@]}" python3 -I "$CASE_DIR/inherited.py" $BASHPID $'\377 \303' > "$CASE_DIR/$how") || fail "$how: $1"
    done
    cmp "$CASE_DIR/direct" "$CASE_DIR/run" || fail "after '$1': $(diff "$CASE_DIR/direct" "$CASE_DIR/run")"
}
compare 'umask 027'; compare 'umask 0'; compare 'ulimit -Sc 100 2> /dev/null || true'; compare 'trap "" PIPE HUP INT'; compare 'exec <&-'
compare 'exec <&- 2>&-'; compare 'exec 7< /dev/null 9> /dev/null'; compare 'export SWIFT_BACKTRACE=enable=yes'; compare 'cd /'
compare 'unset PATH LANG HOME; export PATH=/usr/bin'; compare $'export X=\377'; compare 'ulimit -n 64'
expect 0 "$("${R[@]}" --env ADDED=other/_x1 env | grep -c SWIFT_BACKTRACE || true)" "SWIFT_BACKTRACE in the environment"
# The exit code and the signals are the program's; standard input, too.
got=0; "${R[@]}" sh -c 'exit 7' || got=$?; expect 7 "$got" "the exit code"
got=0; ("${R[@]}" sh -c 'kill -TERM $$') 2> /dev/null || got=$?; expect 143 "$got" "the end by a signal"
expect input "$(echo input | "${R[@]}" cat)" "standard input"
expect '-x --env A=b -- --help' "$("${R[@]}" echo -x --env A=b -- --help)" "options of the program"
expect '--help' "$("${R[@]}" -- sh -c 'echo "$1"' sh --help)" "after --"

# Nothing is started.
no() { code "$1" "$2" run "${@:3}" touch "$CASE_DIR/started"; [ ! -e "$CASE_DIR/started" ] || fail "'run ${*:3}' has started it"; }
no 26 'no none/x' --env A=none/x; no 29 'not an item' --env "A=$P/app"; no 29 'not an item' --env A=app
no 29 'app/empty is empty' --env A=app/empty; no 29 'app/line_feed is empty' --env A=app/line_feed; no 29 'zero byte' --env A=app/zero
no 17 'not in a mounted' --env A=/etc/hostname; no 29 'control file' --env A=.keychainfs/status; no 29 'empty' --env A=
no 64 'NAME=ITEM' --env =x; no 64 'NAME=ITEM' --env 1A=x; no 64 'NAME=ITEM' --env A; no 64 'NAME=ITEM' --env A-B=app/PASSWORD
no 26 'no none' --env-folder none; no 29 'not a' --env-folder app/PASSWORD; no 29 'control files' --env-folder .keychainfs
no 17 'not in a mounted' --env-folder /etc; no 29 "without '.'" --env-folder keychain:../app; no 29 'empty' --env-folder ''
no 29 'zero byte' --env-folder app \
    --env empty=other/_x1 --env line_feed=other/_x1
no 1 'cannot be read' --env-file "$CASE_DIR/none"; no 1 'cannot be read' --env-file "$CASE_DIR"; no 64 'empty' --env-file ''
no 26 'There is no' --env-file "$P/app/none"
no 29 'control file' --env-file "$MNT/.keychainfs/status"; no 64 "line 1" --env-file /etc/hostname; no 26 'none/x' --env-file "$CASE_DIR/env2"
printf 'A=keychain:../app/PASSWORD\n' > "$CASE_DIR/env5"; no 29 "without '.'" --env-file "$CASE_DIR/env5"
printf 'A=keychain:a/\377\n' > "$CASE_DIR/env5"; no 29 'not UTF-8' --env-file "$CASE_DIR/env5"
printf 'geheim' > "$CASE_DIR/env5"; no 64 'line 1' --env-file "$CASE_DIR/env5"
head -c 300000 /dev/zero > "$CASE_DIR/env5"; no 29 '256 KiB' --env-file "$CASE_DIR/env5"
# The size: a variable has 128 KiB for execve(2), with name, sign and zero byte; all new ones have 512 KiB.
head -c $((131072 - 3)) /dev/zero | tr '\0' x > "$P/app/max"
expect 131069 "$("${R[@]}" --env A=app/max printenv A | tr -d '\n' | wc -c)" "128 KiB"
echo >> "$P/app/max"; expect 131069 "$("${R[@]}" --env A=app/max printenv A | tr -d '\n' | wc -c)" "128 KiB and a line feed"
head -c $((131072 - 2)) /dev/zero | tr '\0' x > "$P/app/max"; no 29 'app/max' --env A=app/max; no 29 'app/max' --env-folder app --env \
    empty=other/_x1 --env line_feed=other/_x1 --env zero=other/_x1
head -c $((1 << 20)) /dev/zero | tr '\0' x > "$P/app/max"; no 29 'app/max' --env A=app/max
head -c 131000 /dev/zero | tr '\0' x > "$P/app/max"; expect 131000 "$("${R[@]}" --env A=app/max --env B=app/max --env C=app/max sh -c \
    'printf %s "$C" | wc -c')" "three large ones"
no 29 '512 KiB' --env A=app/max --env B=app/max --env C=app/max --env D=app/max --env E=app/max; rm "$P/app/max"
code 64 'Name the program' run --env A=app/PASSWORD; code 64 "'--evn'" run --evn A=app/PASSWORD true; code 64 'Name the program' run
# The program cannot be executed. A directory of PATH without access would change the reason, as for env(1).
PATH=/usr/bin:/bin
code 127 'no such program' run --env A=app/PASSWORD nosuchprogram; code 127 'no such program' run /nosuch/program
code 126 'Permission denied' run "$CASE_DIR/env"; code 126 'Permission denied' run "$CASE_DIR"; code 64 'empty' run ''
printf '#!/nosuch/shell\n' > "$CASE_DIR/bin/script"; chmod +x "$CASE_DIR/bin/script"; code 127 '' run "$CASE_DIR/bin/script"
LONG=$(head -c 100000 /dev/zero | tr '\0' x); printf "A='%s'\n" "$LONG" > "$CASE_DIR/env5"
got=0; (ulimit -Ss 256; exec "${R[@]}" --env-file "$CASE_DIR/env5" true "$LONG") 2> "$ERR" || got=$?
expect 126 "$got" "too long together ($(cat "$ERR"))"; grep -q 'too long together' "$ERR" || fail "$(cat "$ERR")"

# While it waits for a file, it has read secrets: not dumpable, and no secret in its arguments or its environment.
"${R[@]}" --env-file <(printf 'A=CanaryOfFile\n') --env-file "$CASE_DIR/fifo" true & waits=$!; sleep 0.5
[ "$(stat -c %u "/proc/$waits/environ")" = 0 ] || fail "the environment of a waiting run can be read"
[ "$(id -u)" != 0 ] || ! grep -qa CanaryOfFile "/proc/$waits/environ" "/proc/$waits/cmdline" || fail "the secret in its environment"
kill -TERM "$waits"; got=0; wait "$waits" 2> /dev/null || got=$?; expect 143 "$got" "a signal while it waits"
# Locked: 23, also for a folder; not mounted: 17.
"$KEYCHAINFS" lock "$MNT"; no 23 'unlock' --env A=app/PASSWORD; no 23 'unlock' --env-folder app; no 23 'unlock' --env-file "$P/app/file"
no 23 'unlock' --env-file "$CASE_DIR/env"; "${R[@]}" --env-file "$CASE_DIR/env4" true || fail "a locked keychain without references"
unmount_keychain; no 17 'mount' --env A=app/PASSWORD; no 17 'mount' --env-folder app; "${R[@]}" true || fail "without variables"
