#include "director/journal/kept_limits.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/memory_limit.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using tree::FieldTo;
using Type = WireReader::Type;

constexpr std::string_view kSchema = "galley.kept-limits.v1 ";
constexpr uint64_t kFileBytesMax = 64 << 20;

std::string Encode(const KeptLimit& limit) {
  WireWriter writer;
  writer.Bytes(1, limit.weak_key.ToString());
  writer.Bytes(2, record::EncodeObserved(limit.observed));
  writer.Varint(3, static_cast<uint64_t>(limit.kind));
  writer.Varint(4, limit.limit);
  writer.Varint(5, static_cast<uint64_t>(absl::ToUnixMillis(limit.since)));
  writer.Bytes(6, limit.package);
  writer.Varint(7, limit.stage);
  writer.Bytes(8, limit.error);
  writer.Bytes(9, limit.log);
  writer.Bytes(10, limit.machine);
  return writer.Take();
}

absl::StatusOr<KeptLimit> Decode(std::string_view bytes) {
  KeptLimit limit;
  std::optional<std::string_view> weak_key, observed;
  uint64_t kind = static_cast<uint64_t>(limit.kind), since_ms = 0, stage = 0;
  RETURN_IF_ERROR(tree::ReadAllFields(
      bytes, "a limit", FieldTo(1, "weak_key", weak_key), FieldTo(2, "observed", observed),
      FieldTo(3, "kind", kind), FieldTo(4, "limit", limit.limit), FieldTo(5, "since_ms", since_ms),
      FieldTo(6, "package", limit.package), FieldTo(7, "stage", stage),
      FieldTo(8, "error", limit.error), FieldTo(9, "log", limit.log),
      FieldTo(10, "machine", limit.machine)));
  if (!weak_key) return absl::DataLossError("a limit without a key");
  if (kind < 1 || kind > 2 || stage > UINT8_MAX)
    return absl::DataLossError("a number that a limit cannot have");
  ASSIGN_OR_RETURN(limit.weak_key, Digest::Parse(*weak_key));
  ASSIGN_OR_RETURN(limit.observed, record::DecodeObserved(observed.value_or("")));
  limit.kind = static_cast<KeptLimit::Kind>(kind);
  limit.stage = static_cast<uint8_t>(stage);
  limit.since = absl::FromUnixMillis(static_cast<int64_t>(since_ms));
  return limit;
}

// Two limits are the same whatever their times and texts.
bool IsSame(const KeptLimit& a, const KeptLimit& b) {
  return a.weak_key == b.weak_key && a.observed == b.observed && a.kind == b.kind &&
         a.limit == b.limit && a.machine == b.machine;
}

// Returns true when the two saw different values of something that both looked at.
bool SawAnother(std::span<const record::Observed> limit, std::span<const record::Observed> other) {
  return std::ranges::any_of(limit, [&](const record::Observed& seen) {
    return std::ranges::any_of(other, [&](const record::Observed& one) {
      return one.what == seen.what && one.value != seen.value;
    });
  });
}

bool IsKept(const KeptLimit& limit, absl::Time now) {
  return limit.since <= now && now - limit.since < KeptLimits::kKeptFor;
}

}  // namespace

std::string EncodeKeptLimits(const std::vector<KeptLimit>& limits) {
  WireWriter writer;
  for (const KeptLimit& limit : limits) writer.Element(1, Encode(limit));
  const std::string body = writer.Take();
  return fmt::format("{}{}\n", kSchema, Digest::Of(body).hex()) + body;
}

absl::StatusOr<std::vector<KeptLimit>> DecodeKeptLimits(std::string_view bytes) {
  const size_t line = bytes.find('\n');
  if (!bytes.starts_with(kSchema) || line == std::string_view::npos)
    return absl::DataLossError("of another version");
  const std::string_view body = bytes.substr(line + 1);
  if (bytes.substr(kSchema.size(), line - kSchema.size()) != Digest::Of(body).hex())
    return absl::DataLossError("its bytes are not those that were written");
  std::vector<KeptLimit> limits;
  WireReader reader(body);
  while (!reader.AtEnd()) {
    const absl::StatusOr<WireReader::Field> field = reader.Next();
    if (!field.ok() || field->number != 1 || field->type != Type::kBytes)
      return absl::DataLossError("it is malformed");
    absl::StatusOr<KeptLimit> limit = Decode(field->bytes);
    if (!limit.ok()) return absl::DataLossError(MessageOf(limit.status()));
    limits.push_back(*std::move(limit));
  }
  return limits;
}

KeptLimits::KeptLimits(const std::string& state_directory)
    : file_(JoinPath(state_directory, "kept_limits")) {
  const absl::StatusOr<std::string> bytes = ReadOwnFile(file_, kFileBytesMax);
  if (absl::IsNotFound(bytes.status())) return;
  absl::StatusOr<std::vector<KeptLimit>> limits =
      bytes.ok() ? DecodeKeptLimits(*bytes)
                 : absl::StatusOr<std::vector<KeptLimit>>(bytes.status());
  if (!limits.ok()) {
    NoteRepair(fmt::format("{}: {}; what had outgrown its limits is tried again", file_,
                           MessageOf(limits.status())));
    base::MutexLock lock(mutex_);
    is_changed_ = true;  // the next Save writes a whole file
    return;
  }
  base::MutexLock lock(mutex_);
  for (KeptLimit& limit : *limits) {
    const size_t size = Encode(limit).size();
    limits_.push_back({std::move(limit), size});
  }
  NoteKeys();
}

bool KeptLimits::empty() const {
  base::MutexLock lock(mutex_);
  return limits_.empty();
}

bool KeptLimits::is_saved() const {
  base::MutexLock lock(mutex_);
  return !is_changed_;
}

std::vector<KeptLimit> KeptLimits::Of(const Digest& weak_key, const std::string& machine,
                                      absl::Time now) const {
  std::vector<KeptLimit> found;
  base::MutexLock lock(mutex_);
  if (!weak_keys_.contains(weak_key)) return found;
  for (auto entry = limits_.rbegin(); entry != limits_.rend(); ++entry) {
    const KeptLimit& limit = entry->limit;
    if (limit.weak_key == weak_key && limit.machine == machine && IsKept(limit, now))
      found.push_back(limit);
  }
  return found;
}

absl::Status KeptLimits::Keep(KeptLimit limit) {
  const size_t bytes = Encode(limit).size();
  if (bytes > kLimitBytesMax) {
    return ResourceExhaustedError(
        "what its attempt had looked at takes {} bytes, and at most {} are kept", bytes,
        kLimitBytesMax);
  }
  base::MutexLock lock(mutex_);
  std::erase_if(limits_, [&](const Entry& other) {
    return IsSame(other.limit, limit) || !IsKept(other.limit, limit.since);
  });
  limits_.push_back({std::move(limit), bytes});
  limits_.back().limit.is_new = true;
  DropOldest();
  NoteChange();
  return absl::OkStatus();
}

// Drops the limits beyond a bound, counted from the newest limit.
void KeptLimits::DropOldest() {
  const Digest newest = limits_.back().limit.weak_key;
  size_t count = 0, bytes = 0, of_key = 0;
  std::vector<Entry> left;
  for (auto entry = limits_.rbegin(); entry != limits_.rend(); ++entry) {
    if (entry->limit.weak_key == newest && of_key++ >= kLimitsOfAKeyMax) continue;
    bytes += entry->bytes;
    if (count++ == kLimitsMax || bytes > kBytesMax) break;
    left.push_back(std::move(*entry));
  }
  limits_.assign(std::make_move_iterator(left.rbegin()), std::make_move_iterator(left.rend()));
}

void KeptLimits::Withdraw(const Digest& weak_key, std::span<const record::Observed> observed) {
  base::MutexLock lock(mutex_);
  if (!weak_keys_.contains(weak_key)) return;
  const size_t withdrawn = std::erase_if(limits_, [&](const Entry& entry) {
    return entry.limit.weak_key == weak_key && !SawAnother(entry.limit.observed, observed);
  });
  if (withdrawn > 0) NoteChange();
}

void KeptLimits::NoneIsNew() {
  base::MutexLock lock(mutex_);
  for (Entry& entry : limits_) entry.limit.is_new = false;
}

void KeptLimits::Clear() {
  base::MutexLock lock(mutex_);
  if (limits_.empty()) return;
  limits_.clear();
  NoteChange();
}

absl::Status KeptLimits::Save() {
  std::vector<KeptLimit> limits;
  {
    base::MutexLock lock(mutex_);
    if (!std::exchange(is_changed_, false)) return absl::OkStatus();
    for (const Entry& entry : limits_) limits.push_back(entry.limit);
  }
  const absl::Status written = WriteFileAtomic(file_, EncodeKeptLimits(limits), /*sync=*/true);
  if (!written.ok()) {
    base::MutexLock lock(mutex_);
    is_changed_ = true;
  }
  return written;
}

void KeptLimits::NoteChange() {
  is_changed_ = true;
  NoteKeys();
}

void KeptLimits::NoteKeys() {
  weak_keys_.clear();
  for (const Entry& entry : limits_) weak_keys_.insert(entry.limit.weak_key);
}

// A container may have no id, or its image's id; two containers of one image differ by name.
std::string MachineIdentity() {
  std::string id = galley::ReadFile("/etc/machine-id", 4096).value_or("");
  if (!id.empty() && id.back() == '\n') id.pop_back();
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) name[0] = '\0';
  return fmt::format("{} {} {}", id, name, MemoryLimits().Sample().limit_bytes);
}

}  // namespace galley::director
