# E5: `otp` prints the code that another implementation of RFC 6238 (Python's hmac) computes, for a link and for a key alone.
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"; G="$MNT/generic-passwords"; mkdir "$G/otp"
# expected KEY HASH DIGITS PERIOD
expected() {
    python3 -I -c '
import base64, hmac, struct, sys, time
key, name, digits, period = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
digest = hmac.new(base64.b32decode(key + "=" * (-len(key) % 8)), struct.pack(">Q", int(time.time()) // period), name).digest()
at = digest[-1] & 15
print(str((struct.unpack(">I", digest[at:at + 4])[0] & 0x7FFFFFFF) % 10 ** digits).zfill(digits))' "$@"
}
# same ITEM KEY HASH DIGITS PERIOD: before and after, because a code may end in between.
same() {
    local item=$1 before code after; shift
    before=$(expected "$@"); code=$("$KEYCHAINFS" otp "$item"); after=$(expected "$@")
    [ "$code" = "$before" ] || [ "$code" = "$after" ] || fail "otp $item: $code, not $before or $after"
}
key=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
printf '%s' "$key" > "$G/otp/key"; same otp/key $key sha1 6 30
printf 'jbsw y3dp ehpk 3pxp jbsw y3dp ehpk 3pxp\n' > "$G/otp/typed"; same otp/typed $key sha1 6 30; same "$G/otp/typed" $key sha1 6 30
printf 'password\nuser: amy\notpauth://totp/Example:amy?secret=%s&issuer=Example\n' $key > "$G/otp/entry"; same otp/entry $key sha1 6 30
for hash in SHA1 SHA256 SHA512; do
    for digits in 6 7 8; do
        printf 'otpauth://totp/x?secret=%s&algorithm=%s&digits=%s&period=45' $key $hash $digits > "$G/otp/link"
        same otp/link $key ${hash,,} $digits 45
    done
done
long=$(head -c 90 /dev/zero | tr '\0' A)7; printf 'otpauth://totp/x?secret=%s' "$long" > "$G/otp/long"; same otp/long "${long%?}" sha1 6 30
[ -z "$("$KEYCHAINFS" otp otp/key 2>&1 > /dev/null)" ] || fail "a message without a terminal"
python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" otp otp/key -- > "$CASE_DIR/said"
grep -qE '^keychainfs: valid for ([1-9]|[12][0-9]|30) s$' "$CASE_DIR/said" || fail "no time: $(cat "$CASE_DIR/said")"
grep -qE '^[0-9]{6}$' "$CASE_DIR/said" || fail "no code: $(cat "$CASE_DIR/said")"

# refused TEXT CONTENTS: no output, and no part of the contents in the message.
refused() {
    printf "$2" > "$G/otp/bad"; code 29 "$1" otp otp/bad
    [ -z "${2:30:8}" ] || ! grep -qF -- "${2:30:8}" "$ERR" || fail "contents in the message"
}
refused 'no key' ''; refused 'no key' 'correct-horse-battery-staple'; refused 'no key' 'JBSWY3DPEHPK3PX1'; refused 'no key' '\0\0\377'
refused 'no key' 'otpauth://totp/x?secret=\n'; refused 'hotp' "otpauth://hotp/x?secret=$key&counter=1"
link="otpauth://totp/x?secret=$key"
for parameter in period=0 period=301 digits=9 digits=5 algorithm=MD5 encoder=steam; do refused "'${parameter%%=*}'" "$link&$parameter"; done
refused "'secret'" "$link&secret=AAAA"
code 26 'There is no' otp otp/none; code 29 'not an item' otp otp; code 64 '' otp; "$KEYCHAINFS" lock "$MNT"; code 23 unlock otp otp/key
