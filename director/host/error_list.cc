#include "director/host/error_list.h"

#include <algorithm>

#include "fmt/format.h"

namespace galley::director {

std::string ErrorList(std::span<const std::string> errors) {
  std::string text;
  for (const std::string& error : errors.first(std::min(errors.size(), kErrorsToldMax)))
    text += (text.empty() ? "" : "\n") + error;
  if (errors.size() > kErrorsToldMax)
    text += fmt::format("\nand {} more", errors.size() - kErrorsToldMax);
  return text;
}

}  // namespace galley::director
