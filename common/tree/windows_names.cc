#include "common/tree/windows_names.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "fmt/format.h"

namespace galley::tree {
namespace {

constexpr std::string_view kRefused = "<>:\"\\|?*";
constexpr std::array<std::string_view, 6> kDevices = {"con", "prn",    "aux",
                                                      "nul", "conin$", "conout$"};
// Superscripts count as the digits that they show.
constexpr std::array<std::string_view, 3> kSuperscripts = {"\u00b9", "\u00b2", "\u00b3"};

bool IsPort(std::string_view name) {
  if (!name.starts_with("com") && !name.starts_with("lpt")) return false;
  const std::string_view number = name.substr(3);
  return (number.size() == 1 && number[0] >= '1' && number[0] <= '9') ||
         std::ranges::find(kSuperscripts, number) != kSuperscripts.end();
}

// Windows looks at what is before the first dot, and passes over blanks at its end.
std::string DeviceIn(std::string_view segment) {
  const size_t size = std::min(segment.find('.'), segment.size());
  std::string name = absl::AsciiStrToLower({segment.data(), size});
  name.resize(name.find_last_not_of(' ') + 1);
  const bool is_device = std::ranges::find(kDevices, name) != kDevices.end() || IsPort(name);
  return is_device ? name : std::string();
}

std::string FaultOf(std::string_view segment) {
  if (const std::string device = DeviceIn(segment); !device.empty())
    return fmt::format("that of the device {}, whatever follows a dot", device);
  for (const char c : segment) {
    if (static_cast<unsigned char>(c) < 0x20) return "with a control character";
    if (kRefused.find(c) != std::string_view::npos) return fmt::format("with a {}", c);
  }
  if (segment.ends_with('.')) return "that ends with a dot";
  if (segment.ends_with(' ')) return "that ends with a blank";
  return {};
}

}  // namespace

std::string WindowsNameFault(std::string_view path) {
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (const std::string fault = FaultOf(segment); !fault.empty()) {
      return fmt::format(
          "it has the name '{}', {}, which Windows cannot have (this platform has os = "
          "\"windows\"); give it another name",
          segment, fault);
    }
    rest.remove_prefix(segment.size() == rest.size() ? segment.size() : segment.size() + 1);
  }
  return {};
}

}  // namespace galley::tree
