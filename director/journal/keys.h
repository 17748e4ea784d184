// Keys: the journal's keys, except the reverse index (index.h) and the version (database.h).
//
//   "m"                                 Meta
//   "P" package NUL "f" platform        FailureRecord
//   "P" package NUL "i"                 instigators
//   "P" package NUL "k" platform        published key, and the root that holds it since
//   "P" package NUL "r" platform        PlatformRecord
//   "P" package NUL "u" platform        present: the record is not trusted
//   "S" platform                        Published: the sequence of the root last published
//   "A" attempt, 8 bytes, big-endian    Attempt: in a worker's hands
//   "B" package                         Blame
//   "W" package NUL platform            Unsent: to be sent to a remote store
//
// The entries that ForEach reads lie together, by package name: NUL sorts below all other bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace galley::director {

inline constexpr std::string_view kMetaKey = "m";
inline constexpr char kFailureTag = 'f';
inline constexpr char kInstigatorsTag = 'i';
inline constexpr char kPublishedTag = 'k';
inline constexpr char kRecordTag = 'r';
inline constexpr char kUntrustedTag = 'u';

inline std::string PackagePrefix(std::string_view package) {
  std::string key("P");
  key.append(package);
  key.push_back('\0');
  return key;
}

inline std::string PackageKey(std::string_view package, char tag, std::string_view platform) {
  std::string key = PackagePrefix(package);
  key.push_back(tag);
  key.append(platform);
  return key;
}

inline constexpr std::string_view kPublishedSequencePrefix = "S";

inline std::string PublishedSequenceKey(std::string_view platform) {
  return std::string(kPublishedSequencePrefix).append(platform);
}

inline constexpr std::string_view kAttemptPrefix = "A";
inline constexpr std::string_view kBlamePrefix = "B";

// Keys sort in the order of the attempts' numbers.
inline std::string AttemptKey(uint64_t attempt) {
  std::string key(kAttemptPrefix);
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(attempt >> shift));
  return key;
}

inline std::optional<uint64_t> ParseAttemptKey(std::string_view key) {
  if (!key.starts_with(kAttemptPrefix) || key.size() != kAttemptPrefix.size() + 8)
    return std::nullopt;
  uint64_t attempt = 0;
  for (const char c : key.substr(kAttemptPrefix.size()))
    attempt = attempt << 8 | static_cast<uint8_t>(c);
  return attempt;
}

inline std::string BlameKey(std::string_view package) {
  return std::string(kBlamePrefix).append(package);
}

inline constexpr std::string_view kUnsentPrefix = "W";

inline std::string UnsentKey(std::string_view package, std::string_view platform) {
  std::string key(kUnsentPrefix);
  key.append(package);
  key.push_back('\0');
  return key.append(platform);
}

// PackageKeyParts: the parts of a PackageKey; views into it.
struct PackageKeyParts {
  std::string_view package;
  char tag = 0;
  std::string_view platform;
};

inline std::optional<PackageKeyParts> ParsePackageKey(std::string_view key) {
  const size_t end = key.find('\0');
  if (key.empty() || key.front() != 'P' || end == std::string_view::npos || end + 1 >= key.size())
    return std::nullopt;
  return PackageKeyParts{
      .package = key.substr(1, end - 1), .tag = key[end + 1], .platform = key.substr(end + 2)};
}

}  // namespace galley::director
