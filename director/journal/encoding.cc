#include "director/journal/encoding.h"

#include <concepts>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using Field = WireReader::Field;
using Type = WireReader::Type;

constexpr size_t kDigestBytes = Digest::kHashSize + 8;
constexpr size_t kHeadBytesMax = 6;  // of a field, before its bytes

uint64_t NanosOf(absl::Duration duration) {
  return static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration));
}
absl::Duration DurationOf(uint64_t nanos) { return absl::Nanoseconds(static_cast<int64_t>(nanos)); }

absl::Status Damaged(std::string_view what, std::string_view why) {
  return DataLossError("{} in the journal: {}", what, why);
}

// Calls `take` with each field of `bytes`; false means that this version does not know the field,
// or that its type is wrong.
template <typename Take>
absl::Status ReadFields(std::string_view bytes, std::string_view what, const Take& take) {
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    const absl::StatusOr<Field> field = reader.Next();
    if (!field.ok()) return Damaged(what, MessageOf(field.status()));
    ASSIGN_OR_RETURN(const bool is_known, take(*field));
    if (!is_known) return Damaged(what, fmt::format("unexpected field {}", field->number));
  }
  return absl::OkStatus();
}

// Take*: false means that the type of the field is wrong, or a number is too large.

absl::StatusOr<bool> Take(const Field& field, std::string& text) {
  if (field.type != Type::kBytes) return false;
  text.assign(field.bytes);
  return true;
}

template <std::integral Integer>
absl::StatusOr<bool> Take(const Field& field, Integer& number) {
  if (field.type != Type::kVarint || !std::in_range<Integer>(field.value)) return false;
  number = static_cast<Integer>(field.value);
  return true;
}

absl::StatusOr<bool> Take(const Field& field, bool& flag) {
  flag = field.value != 0;
  return field.type == Type::kVarint;
}

absl::StatusOr<bool> Take(const Field& field, absl::Time& time) {
  time = absl::FromUnixNanos(static_cast<int64_t>(field.value));
  return field.type == Type::kVarint;
}

absl::StatusOr<bool> Take(const Field& field, absl::Duration& duration) {
  duration = DurationOf(field.value);
  return field.type == Type::kVarint;
}

absl::StatusOr<bool> Take(const Field& field, Digest& digest) {
  if (field.type != Type::kBytes) return false;
  ASSIGN_OR_RETURN(digest, DecodeDigest(field.bytes));
  return true;
}

absl::StatusOr<bool> Take(const Field& field, std::optional<Digest>& digest) {
  return Take(field, digest.emplace());
}

// Decoded: a nested message, which `decode` reads.
template <typename Message>
struct Decoded {
  absl::StatusOr<Message> (*decode)(std::string_view bytes);
  Message* message;
};
template <typename Message>
absl::StatusOr<bool> Take(const Field& field, const Decoded<Message>& decoded) {
  if (field.type != Type::kBytes) return false;
  ASSIGN_OR_RETURN(*decoded.message, decoded.decode(field.bytes));
  return true;
}

// DecodedEach: a repeated nested message.
template <typename Message>
struct DecodedEach {
  absl::StatusOr<Message> (*decode)(std::string_view bytes);
  std::vector<Message>* messages;
};
template <typename Message>
absl::StatusOr<bool> Take(const Field& field, const DecodedEach<Message>& each) {
  return Take(field, Decoded<Message>{each.decode, &each.messages->emplace_back()});
}

// Reads the fields 1, 2, ... into the targets in their order.
template <typename... Targets>
absl::Status ReadInto(std::string_view bytes, std::string_view what, Targets&&... targets) {
  return ReadFields(bytes, what, [&](const Field& field) {
    absl::StatusOr<bool> is_taken = false;
    uint32_t number = 0;
    ((field.number == ++number ? void(is_taken = Take(field, targets)) : void()), ...);
    return is_taken;
  });
}

std::string EncodeChanged(const ChangedObservation& changed) {
  WireWriter writer;
  writer.Bytes(1, changed.what);
  writer.Bytes(2, changed.before);
  writer.Bytes(3, changed.after);
  return writer.Take();
}

absl::StatusOr<ChangedObservation> DecodeChanged(std::string_view bytes) {
  ChangedObservation changed;
  RETURN_IF_ERROR(
      ReadInto(bytes, "a changed observation", changed.what, changed.before, changed.after));
  return changed;
}

std::string EncodeLastCook(const LastCook& cook) {
  WireWriter writer;
  writer.Bytes(1, cook.source);
  writer.Varint(2, static_cast<uint64_t>(absl::ToUnixNanos(cook.time)));
  writer.Bytes(3, cook.worker);
  writer.Varint(4, cook.attempt);
  writer.Varint(5, NanosOf(cook.load_time));
  writer.Varint(6, NanosOf(cook.save_time));
  for (const ChangedObservation& changed : cook.changed) writer.Element(7, EncodeChanged(changed));
  writer.Bool(8, cook.is_first);
  writer.Varint(9, cook.cook);
  writer.Bool(10, cook.is_forced);
  writer.Varint(11, NanosOf(cook.request_time));
  writer.Varint(12, NanosOf(cook.queue_time));
  writer.Varint(13, NanosOf(cook.in_hand_time));
  writer.Varint(14, cook.attempts);
  return writer.Take();
}

absl::StatusOr<LastCook> DecodeLastCook(std::string_view bytes) {
  LastCook cook;
  RETURN_IF_ERROR(ReadInto(bytes, "the last cook", cook.source, cook.time, cook.worker,
                           cook.attempt, cook.load_time, cook.save_time,
                           DecodedEach<ChangedObservation>{DecodeChanged, &cook.changed},
                           cook.is_first, cook.cook, cook.is_forced, cook.request_time,
                           cook.queue_time, cook.in_hand_time, cook.attempts));
  return cook;
}

absl::StatusOr<InstigatorRecord> DecodeInstigator(std::string_view bytes) {
  InstigatorRecord instigator;
  RETURN_IF_ERROR(ReadInto(bytes, "an instigator", instigator.category, instigator.referencer));
  return instigator;
}

absl::StatusOr<AttemptRecord::Target> DecodeTarget(std::string_view bytes) {
  AttemptRecord::Target target;
  RETURN_IF_ERROR(ReadInto(bytes, "a target", target.platform, target.name, target.recipe));
  return target;
}

absl::StatusOr<std::vector<record::Observed>> DecodeObserved(std::string_view bytes) {
  auto observed = record::DecodeObserved(bytes);
  if (!observed.ok()) return Damaged("an observation set", MessageOf(observed.status()));
  return observed;
}

}  // namespace

std::string EncodeDigest(const Digest& digest) {
  std::string bytes(digest.hash());
  for (int shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<char>((digest.size_bytes() >> shift) & 0xff));
  return bytes;
}

absl::StatusOr<Digest> DecodeDigest(std::string_view bytes) {
  if (bytes.size() != kDigestBytes) {
    return Damaged("a digest", fmt::format("{} bytes, expected {}", bytes.size(), kDigestBytes));
  }
  uint64_t size = 0;
  for (size_t i = 0; i < 8; ++i) {
    size |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[Digest::kHashSize + i])) << (8 * i);
  }
  absl::StatusOr<Digest> digest = Digest::FromHash(bytes.substr(0, Digest::kHashSize), size);
  if (!digest.ok()) return Damaged("a digest", MessageOf(digest.status()));
  return digest;
}

std::string EncodePublished(const Published& published) {
  std::string bytes = EncodeDigest(published.key);
  if (!published.in) return bytes;
  WireWriter writer;
  writer.Element(1, EncodeDigest(published.in->root));
  writer.Varint(2, published.in->sequence);
  return bytes + writer.Take();
}

absl::StatusOr<Published> DecodePublished(std::string_view bytes) {
  Published published;
  ASSIGN_OR_RETURN(published.key, DecodeDigest(bytes.substr(0, kDigestBytes)));
  if (bytes.size() == kDigestBytes) return published;
  PublishedIn& in = published.in.emplace();
  RETURN_IF_ERROR(ReadInto(bytes.substr(kDigestBytes), "a published key", in.root, in.sequence));
  return published;
}

std::string EncodeFailure(const FailureRecord& failure) {
  WireWriter writer;
  writer.Varint(1, failure.cook);
  writer.Varint(2, static_cast<uint64_t>(absl::ToUnixNanos(failure.time)));
  writer.Bytes(3, failure.stage);
  writer.Bytes(4, failure.error);
  writer.Bytes(5, failure.log);
  writer.Bytes(6, failure.cause);
  writer.Bytes(7, failure.worker);
  writer.Varint(8, failure.attempt);
  writer.Varint(9, failure.attempts);
  writer.Varint(10, failure.own_faults);
  writer.Varint(11, failure.infrastructure_faults);
  return writer.Take();
}

absl::StatusOr<FailureRecord> DecodeFailure(std::string_view bytes) {
  FailureRecord failure;
  RETURN_IF_ERROR(ReadInto(bytes, "a failure", failure.cook, failure.time, failure.stage,
                           failure.error, failure.log, failure.cause, failure.worker,
                           failure.attempt, failure.attempts, failure.own_faults,
                           failure.infrastructure_faults));
  return failure;
}

std::string EncodeMeta(const JournalMeta& meta) {
  WireWriter writer;
  writer.Bytes(1, meta.project_id);
  writer.Bytes(2, meta.store_id);
  writer.Varint(3, meta.loss_epoch);
  writer.Varint(4, meta.term);
  writer.Bytes(5, meta.table_file);
  writer.Bytes(6, meta.trust_domain);
  writer.Varint(7, meta.store_commits);
  writer.Bytes(8, meta.table_id);
  writer.Bytes(9, meta.reasons_of);
  return writer.Take();
}

absl::StatusOr<JournalMeta> DecodeMeta(std::string_view bytes) {
  JournalMeta meta;
  RETURN_IF_ERROR(ReadInto(bytes, "its meta record", meta.project_id, meta.store_id,
                           meta.loss_epoch, meta.term, meta.table_file, meta.trust_domain,
                           meta.store_commits, meta.table_id, meta.reasons_of));
  return meta;
}

std::string EncodePlatformRecord(const PlatformRecord& record) {
  const std::string observed = record::EncodeObserved(record.observed);
  const std::string last_cook = EncodeLastCook(record.last_cook);
  WireWriter writer;
  writer.Reserve(4 * kDigestBytes + 8 * kHeadBytesMax + record.recipe_bytes.size() +
                 record.result.size() + observed.size() + last_cook.size());
  writer.Element(1, EncodeDigest(record.recipe));
  writer.Element(2, EncodeDigest(record.source));
  writer.Element(3, EncodeDigest(record.weak_key));
  writer.Element(4, EncodeDigest(record.action_key));
  writer.Bytes(5, record.recipe_bytes);
  writer.Bytes(6, record.result);
  writer.Bytes(7, observed);
  writer.Bytes(8, last_cook);
  return writer.Take();
}

absl::StatusOr<PlatformRecord> DecodePlatformRecord(std::string_view bytes) {
  PlatformRecord record;
  RETURN_IF_ERROR(ReadInto(bytes, "a package's record", record.recipe, record.source,
                           record.weak_key, record.action_key, record.recipe_bytes, record.result,
                           Decoded<std::vector<record::Observed>>{DecodeObserved, &record.observed},
                           Decoded<LastCook>{DecodeLastCook, &record.last_cook}));
  return record;
}

std::string EncodeInstigators(const std::vector<InstigatorRecord>& instigators) {
  WireWriter writer;
  for (const InstigatorRecord& instigator : instigators) {
    WireWriter element;
    element.Varint(1, instigator.category);
    element.Bytes(2, instigator.referencer);
    writer.Element(1, element.bytes());
  }
  return writer.Take();
}

absl::StatusOr<std::vector<InstigatorRecord>> DecodeInstigators(std::string_view bytes) {
  std::vector<InstigatorRecord> instigators;
  RETURN_IF_ERROR(ReadInto(bytes, "instigators",
                           DecodedEach<InstigatorRecord>{DecodeInstigator, &instigators}));
  return instigators;
}

std::string EncodeLastPublished(const PublishedIn& last) {
  WireWriter writer;
  writer.Varint(1, last.sequence);
  if (last.loss_epoch.has_value()) writer.Varint(2, *last.loss_epoch + 1);
  return writer.Take();
}

absl::StatusOr<PublishedIn> DecodeLastPublished(std::string_view bytes) {
  PublishedIn last;
  uint64_t epoch_and_one = 0;
  RETURN_IF_ERROR(ReadInto(bytes, "the last root", last.sequence, epoch_and_one));
  if (epoch_and_one != 0) last.loss_epoch = epoch_and_one - 1;
  return last;
}

std::string EncodeAttempt(const AttemptRecord& attempt) {
  WireWriter writer;
  writer.Bytes(1, attempt.worker);
  writer.Bytes(2, attempt.package);
  for (const AttemptRecord::Target& one : attempt.targets) {
    WireWriter target;
    target.Varint(1, one.platform);
    target.Bytes(2, one.name);
    target.Element(3, EncodeDigest(one.recipe));
    writer.Element(3, target.bytes());
  }
  if (attempt.generated_source) writer.Element(4, EncodeDigest(*attempt.generated_source));
  return writer.Take();
}

absl::StatusOr<AttemptRecord> DecodeAttempt(std::string_view bytes) {
  AttemptRecord attempt;
  RETURN_IF_ERROR(ReadInto(bytes, "an attempt", attempt.worker, attempt.package,
                           DecodedEach<AttemptRecord::Target>{DecodeTarget, &attempt.targets},
                           attempt.generated_source));
  return attempt;
}

std::string EncodeUnsent(const UnsentResult& unsent) {
  WireWriter writer;
  writer.Element(1, EncodeDigest(unsent.action_key));
  writer.Varint(2, unsent.is_dispute ? 1 : 0);
  return writer.Take();
}

absl::StatusOr<UnsentResult> DecodeUnsent(std::string_view bytes) {
  UnsentResult unsent;
  RETURN_IF_ERROR(ReadInto(bytes, "an unsent result", unsent.action_key, unsent.is_dispute));
  return unsent;
}

std::string EncodeBlame(const BlameRecord& blame) {
  WireWriter writer;
  writer.Varint(1, blame.own_faults);
  writer.Bytes(2, blame.what);
  writer.Bytes(3, blame.error);
  writer.Bytes(4, blame.log);
  return writer.Take();
}

absl::StatusOr<BlameRecord> DecodeBlame(std::string_view bytes) {
  BlameRecord blame;
  RETURN_IF_ERROR(ReadInto(bytes, "blame", blame.own_faults, blame.what, blame.error, blame.log));
  return blame;
}

}  // namespace galley::director
