/* What Swift's Glibc module does not have of Linux and glibc. */
#pragma once
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
