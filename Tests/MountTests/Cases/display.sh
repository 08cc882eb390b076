# A display without a screen, in DISPLAY, for cases of the clipboard. Sourced after lib.sh, not executed.
Xvfb -displayfd 3 -nolisten tcp -screen 0 64x64x8 3> "$CASE_DIR/display" 2> "$CASE_DIR/xvfb" & server=$!
trap 'code=$?; kill "$server" 2> /dev/null || true; cleanup $code' EXIT
wait_until 20 test -s "$CASE_DIR/display"; export DISPLAY=:$(cat "$CASE_DIR/display")
clipboard() { timeout 5 xclip -selection clipboard -o; }
holder() { pgrep -f "^$KEYCHAINFS hold-clipboard"; }
no_holder() { [ -z "$(holder)" ]; }
