#include "director/launch/hosts_file.h"

#include <algorithm>
#include <optional>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "director/launch/text_fields.h"

namespace galley::director {
namespace {

constexpr uint64_t kHostsBytesMax = 1 << 20;
constexpr uint32_t kSlotsMax = 1'024;
constexpr std::string_view kSlots = "slots=";

absl::StatusOr<FarmHost> ParseHost(const std::vector<std::string>& words) {
  FarmHost host{.name = words.front()};
  if (const size_t colon = host.name.rfind(':'); colon != std::string::npos) {
    const uint32_t port = ParseWhole<uint32_t>(host.name.substr(colon + 1)).value_or(0);
    if (port == 0 || port > 65'535)
      return InvalidArgumentError("expected HOST or HOST:PORT, found \"{}\"", host.name);
    host.port = static_cast<uint16_t>(port);
    host.name.resize(colon);
  }
  // The name would be an option for ssh.
  if (host.name.empty() || host.name.front() == '-')
    return InvalidArgumentError("\"{}\" is no name of a machine", words.front());
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with(kSlots))
      return InvalidArgumentError("expected [USER@]HOST[:PORT] [slots=N], found \"{}\"", word);
    host.slots = ParseWhole<uint32_t>(word.substr(kSlots.size())).value_or(0);
    if (host.slots == 0 || host.slots > kSlotsMax)
      return InvalidArgumentError("expected slots from 1 to {}, found \"{}\"", kSlotsMax, word);
  }
  return host;
}

}  // namespace

absl::StatusOr<std::vector<FarmHost>> ParseHosts(std::string_view text, std::string_view file) {
  std::vector<FarmHost> hosts;
  size_t number = 0;
  for (const std::string& line : SplitAt(text, '\n')) {
    ++number;
    const std::vector<std::string> words = WordsOf(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    absl::StatusOr<FarmHost> host = ParseHost(words);
    if (!host.ok())
      return InvalidArgumentError("{}:{}: {}", file, number, MessageOf(host.status()));
    const bool is_twice = std::ranges::any_of(hosts, [&](const FarmHost& other) {
      return other.name == host->name && other.port == host->port;
    });
    if (is_twice)
      return InvalidArgumentError("{}:{}: {} is listed twice; give it more slots", file, number,
                                  host->name);
    hosts.push_back(*std::move(host));
  }
  if (hosts.empty())
    return InvalidArgumentError(
        "{}: it lists no machine; expected lines like \"build@node7 slots=8\"", file);
  return hosts;
}

absl::StatusOr<std::vector<FarmHost>> ReadHosts(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kHostsBytesMax));
  return ParseHosts(text, path);
}

}  // namespace galley::director
