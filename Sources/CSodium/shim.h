/* What Swift needs of libsodium and the system's memory and process calls and cannot import by itself. */
#pragma once
#include <sodium.h>
