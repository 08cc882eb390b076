# What the cases of commands for items have in common. Sourced after lib.sh, not executed.
OUT="$CASE_DIR/out" ERR="$CASE_DIR/err"
# code CODE TEXT [as USER] COMMAND…: a message with that text, and no output with a failure.
code() {
    local wanted=$1 text=$2 got=0 who=(); shift 2
    [ "$1" != as ] || { who=(as "$2"); shift 2; }
    printf new | "${who[@]}" env KEYCHAINFS_MOUNT="$MNT" "$KEYCHAINFS" "$@" > "$OUT" 2> "$ERR" || got=$?
    expect "$wanted" "$got" "exit code of '$*' ($(cat "$ERR"))"; require_documented "$wanted"
    [ -z "$text" ] || grep -qF -- "$text" "$ERR" || fail "'$*': no '$text' in $(cat "$ERR")"
    [ "$wanted" = 0 ] || [ ! -s "$OUT" ] || fail "'$*' printed $(cat "$OUT")"
    [ "$wanted" = 0 ] || expect 1 "$(grep -c '^keychainfs: ' "$ERR")" "messages of '$*'"
    ! grep -q geheim "$ERR" || fail "a secret in the message of '$*'"
}
