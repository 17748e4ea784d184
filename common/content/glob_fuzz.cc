// "<pattern>\n<path>": any pattern is refused or matches in little time; what is matched lies in
// the pattern's literal folder.
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "common/content/name.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\n');
  const auto glob = galley::content::Glob::Parse(bytes.substr(0, end));
  if (!glob.ok() || end == std::string_view::npos) return 0;
  const std::string_view path = bytes.substr(end + 1);
  const bool matches = glob->Matches(path);
  if (matches && galley::content::ValidateVirtualPath(path).ok()) {
    GALLEY_CHECK(galley::content::IsUnder(path, glob->LiteralFolder()));
  }
  return 0;
}
