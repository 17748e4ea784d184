// PrintLine: prints a line on standard output.
#pragma once

#include <cstdio>
#include <utility>

#include "fmt/format.h"

namespace galley::cli {

template <typename... Args>
void PrintLine(fmt::format_string<Args...> format, Args&&... args) {
  std::puts(fmt::format(format, std::forward<Args>(args)...).c_str());
}

}  // namespace galley::cli
