// The part of libfuse that mounts use. Its version has to be said before its header.
#pragma once

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
