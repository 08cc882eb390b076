# What every proof fuzz-NAME does. Sourced: fuzzes the decoder that the script is called after.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

name=$(basename "$0")
name=${name#fuzz-}
scripts/fuzz --build >"$WORK/build" 2>&1 || { tail -n 40 "$WORK/build" >&2; fail "scripts/fuzz --build"; }
scripts/fuzz "$name" "$PROOF_SECONDS" | tee "$WORK/log"
cases "$(sed -n 's/^executions: //p' "$WORK/log")"
