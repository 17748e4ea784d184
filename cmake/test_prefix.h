// The headers that most tests include (GalleyPrefix.cmake).
#include "cmake/prefix.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
