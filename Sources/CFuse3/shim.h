/* What Swift needs of libfuse3's low-level API and cannot import by itself; each helper says why it is here. */
#pragma once
#define FUSE_USE_VERSION 312
#define _GNU_SOURCE
#include <fuse_lowlevel.h>
#include <fuse_opt.h>
