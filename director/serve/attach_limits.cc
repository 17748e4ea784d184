#include "director/serve/attach_limits.h"

#include <algorithm>
#include <utility>

namespace galley::director {
namespace {

constexpr absl::Duration kToldEvery = absl::Minutes(1);

void Replace(std::string& text, std::string_view what, std::string_view by) {
  if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
}

}  // namespace

std::string AddressOfPeer(std::string_view peer) {
  const size_t kind = peer.find(':');
  if (kind == std::string_view::npos || !peer.starts_with("ip")) return "this machine";
  std::string_view rest = peer.substr(kind + 1);
  std::string address(rest.substr(0, std::min(rest.rfind(':'), rest.size())));
  Replace(address, "%5B", "[");
  Replace(address, "%5D", "]");
  return address;
}

AttachLimits::Address& AttachLimits::Find(const std::string& address, absl::Time now) {
  if (addresses_.size() >= options_.addresses_max && !addresses_.contains(address)) {
    addresses_.erase(std::ranges::min_element(addresses_, [](const auto& a, const auto& b) {
      return a.second.filled < b.second.filled;
    }));
  }
  const auto [at, is_new] = addresses_.try_emplace(address);
  Address& found = at->second;
  if (is_new) found = {.room = options_.burst, .filled = now, .next = now};
  const double since = absl::ToDoubleSeconds(now - found.filled);
  found.room = std::min(options_.burst, found.room + since * options_.per_second);
  found.filled = now;
  return found;
}

std::optional<absl::Duration> AttachLimits::Take(const std::string& address, absl::Time now) {
  Address& of = Find(address, now);
  if (of.room >= 1) {
    of.room -= 1;
    return std::nullopt;
  }
  ++of.refused;
  of.next = std::max(of.next, now) + absl::Seconds(1) / options_.per_second;
  of.next = std::min(of.next, now + options_.wait_max);
  return of.next - now;
}

std::optional<uint64_t> AttachLimits::TellRefused(const std::string& address, absl::Time now) {
  Address& of = Find(address, now);
  if (of.refused == 0 || now - of.told < kToldEvery) return std::nullopt;
  of.told = now;
  return std::exchange(of.refused, 0);
}

}  // namespace galley::director
