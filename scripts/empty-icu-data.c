// An empty table of ICU data, which scripts/build-release links instead of that of the Swift runtime: 34 MB of locales,
// calendars and converters that the program does not read. A look-up in an empty table finds nothing and reports so.
// The layout is that of ICU_Data_Header in stubdata.h of ICU, which ICU builds its own tools with.
#include <stdint.h>

struct icu_data {
    uint16_t header_size;
    uint8_t magic[2];
    struct {
        uint16_t size, reserved;
        uint8_t is_big_endian, charset_family, size_of_char, reserved_byte;
        uint8_t format[4], format_version[4], data_version[4];
    } info;
    char padding[8];
    uint32_t count, reserved;
    uint64_t no_entry[2];
};

_Alignas(16) const struct icu_data keychainfs_empty_icu_data = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info = {.size = 20, .size_of_char = 2, .format = {'T', 'o', 'C', 'P'}, .format_version = {1}},
};
