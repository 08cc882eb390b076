# H6: swap space, ptrace_scope and the kernel's release are read when they are requested.
# users: root
. "${0%/*}/lib.sh"
# The test replaces /proc/swaps and /proc/sys/kernel.
private_mounts
create_keychain; mount_keychain
hardening() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['hardening'].get('$1'))"; }
doctor() { "$KEYCHAINFS" doctor --json "$MNT" | python3 -I -c "import json, sys; print([f['severity'] for f in json.load(sys.stdin)['findings'] if f['name'] == '$1'][0])"; }
heading='Filename Type Size Used Priority'
printf '%s\n' "$heading" > "$CASE_DIR/none"; printf '%s\n/dev/x partition 1048572 0 -2\n' "$heading" > "$CASE_DIR/one"
mkdir "$CASE_DIR/kernel" "$CASE_DIR/kernel/yama"
for swaps in none one none; do
    mount --bind "$CASE_DIR/$swaps" /proc/swaps
    [ "$swaps" = one ] && wanted="True warning" || wanted="False ok"
    expect "$wanted" "$(hardening swapActive) $(doctor swap)" "swap space ($swaps)"
    umount /proc/swaps
done
# The daemon reads the mounts of the namespace in which it was started, which is this one.
printf '6.1.0-test\n' > "$CASE_DIR/kernel/osrelease"
mount --bind "$CASE_DIR/kernel" /proc/sys/kernel
expect "None warning" "$(hardening ptraceScope) $(doctor kernel)" "without Yama, on an older kernel"
printf '2\n' > "$CASE_DIR/kernel/yama/ptrace_scope"; printf '6.18.0-test\n' > "$CASE_DIR/kernel/osrelease"
expect "2 ok" "$(hardening ptraceScope) $(doctor kernel)" "with Yama, on a newer kernel"
umount /proc/sys/kernel
unmount_keychain
