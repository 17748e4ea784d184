#include "director/devices/generated_list.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/tree/plain_name.h"
#include "fmt/format.h"

namespace galley::devices {
namespace {

constexpr std::string_view kGeneratedHead = "galley-generated ";
constexpr size_t kNodeDigits = 64;

// Takes a line with its '\n' from the front of `rest`; nullopt: there is no end of line.
std::optional<std::string_view> TakeListLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

absl::StatusOr<GeneratedPackage> ParseListLine(std::string_view line) {
  const std::optional<NodeKey> node = ParseNodeKey(line.substr(0, kNodeDigits));
  const bool has_path = line.size() > kNodeDigits + 1 && line[kNodeDigits] == ' ';
  if (!node || !has_path || !tree::IsPlainPath(line.substr(kNodeDigits + 1))) {
    return absl::InvalidArgumentError("a list of generated packages: expected a node and a path");
  }
  return GeneratedPackage{std::string(line.substr(kNodeDigits + 1)), *node};
}

}  // namespace

std::string_view GeneratedListName(std::string_view last_name) {
  const std::string_view start = last_name.substr(0, kListName.size());
  const bool is_same = std::ranges::equal(start, kListName, std::equal_to<>(), [](char c) {
    return absl::ascii_tolower(static_cast<unsigned char>(c));
  });
  return is_same ? kOtherListName : kListName;
}

std::string EncodeGeneratedList(const std::vector<GeneratedPackage>& packages) {
  std::string text = fmt::format("{}{}\n", kGeneratedHead, kGeneratedListVersion);
  for (const GeneratedPackage& package : packages)
    text += fmt::format("{} {}\n", package.node.hex(), package.stage_path);
  return text;
}

absl::StatusOr<std::vector<GeneratedPackage>> DecodeGeneratedList(std::string_view bytes) {
  if (bytes.size() > kGeneratedListBytesMax) {
    return InvalidArgumentError("a list of generated packages of {} bytes, at most {}",
                                bytes.size(), kGeneratedListBytesMax);
  }
  std::string_view rest = bytes;
  const std::optional<std::string_view> head = TakeListLine(rest);
  if (!head || !head->starts_with(kGeneratedHead))
    return absl::InvalidArgumentError("no list of generated packages");
  const std::string_view version = head->substr(kGeneratedHead.size());
  if (version != std::to_string(kGeneratedListVersion)) {
    return FailedPreconditionError("a list of generated packages of version {}, this is version {}",
                                   EscapeInvalidUtf8(version.substr(0, 20)), kGeneratedListVersion);
  }
  std::vector<GeneratedPackage> packages;
  while (!rest.empty()) {
    const std::optional<std::string_view> line = TakeListLine(rest);
    if (!line) return absl::InvalidArgumentError("a list of generated packages is cut off");
    ASSIGN_OR_RETURN(GeneratedPackage package, ParseListLine(*line));
    if (!packages.empty() && package.stage_path <= packages.back().stage_path)
      return InvalidArgumentError("{} is not after {}", package.stage_path,
                                  packages.back().stage_path);
    packages.push_back(std::move(package));
  }
  return packages;
}

}  // namespace galley::devices
