#include "common/vfs/address_book.h"

#include <algorithm>
#include <string_view>

namespace galley::vfs {
namespace {

bool IsThisMachine(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.ends_with('.')) name.pop_back();
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace

AddressBook::Found AddressBook::Find(const std::string& host, uint64_t now_ms,
                                     const LookUp& look_up) {
  if (IsThisMachine(host)) return {.addresses = {"127.0.0.1", "::1"}, .error = ""};
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(host);
  if (known != entries_.end()) {
    const Entry& entry = known->second;
    const bool is_good = !entry.found.addresses.empty() && !entry.is_unreached;
    if (is_good || now_ms - entry.looked_up_ms < kAgainMs) return entry.found;
  }
  Found found = look_up(host);
  Entry& entry = entries_[host];
  if (!found.addresses.empty() || entry.found.addresses.empty()) entry.found = std::move(found);
  entry.is_unreached = false;
  entry.looked_up_ms = now_ms;
  return entry.found;
}

void AddressBook::NoteUnreached(const std::string& host) {
  const std::lock_guard lock(mutex_);
  if (const auto known = entries_.find(host); known != entries_.end())
    known->second.is_unreached = true;
}

}  // namespace galley::vfs
