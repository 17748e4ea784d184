#include "director/journal/encoding.h"

#include <functional>
#include <utility>

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using Field = WireReader::Field;
using Type = WireReader::Type;

constexpr size_t kDigestBytes = Digest::kHashSize + 8;

uint64_t NanosOf(absl::Duration duration) {
  return static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration));
}
absl::Duration DurationOf(uint64_t nanos) { return absl::Nanoseconds(static_cast<int64_t>(nanos)); }

absl::Status Damaged(std::string_view what, std::string_view why) {
  return absl::DataLossError(fmt::format("{} in the journal: {}", what, why));
}

// Calls `take` with each field of `bytes`; false means a field that this version does not know, or
// of another type.
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

bool TakeText(const Field& field, std::string& text) {
  if (field.type != Type::kBytes) return false;
  text.assign(field.bytes);
  return true;
}

template <typename Integer>
bool TakeNumber(const Field& field, Integer& number) {
  if (field.type != Type::kVarint || !std::in_range<Integer>(field.value)) return false;
  number = static_cast<Integer>(field.value);
  return true;
}

absl::StatusOr<bool> TakeDigest(const Field& field, Digest& digest) {
  if (field.type != Type::kBytes) return false;
  ASSIGN_OR_RETURN(digest, DecodeDigest(field.bytes));
  return true;
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
      ReadFields(bytes, "a changed observation", [&](const Field& field) -> absl::StatusOr<bool> {
        switch (field.number) {
          case 1:
            return TakeText(field, changed.what);
          case 2:
            return TakeText(field, changed.before);
          case 3:
            return TakeText(field, changed.after);
          default:
            return false;
        }
      }));
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
  RETURN_IF_ERROR(
      ReadFields(bytes, "the last cook", [&](const Field& field) -> absl::StatusOr<bool> {
        const bool is_varint = field.type == Type::kVarint;
        switch (field.number) {
          case 1:
            return TakeText(field, cook.source);
          case 2:
            cook.time = absl::FromUnixNanos(static_cast<int64_t>(field.value));
            return is_varint;
          case 3:
            return TakeText(field, cook.worker);
          case 4:
            return TakeNumber(field, cook.attempt);
          case 5:
            cook.load_time = DurationOf(field.value);
            return is_varint;
          case 6:
            cook.save_time = DurationOf(field.value);
            return is_varint;
          case 7: {
            if (field.type != Type::kBytes) return false;
            ASSIGN_OR_RETURN(ChangedObservation changed, DecodeChanged(field.bytes));
            cook.changed.push_back(std::move(changed));
            return true;
          }
          case 8:
            cook.is_first = field.value != 0;
            return is_varint;
          case 9:
            return TakeNumber(field, cook.cook);
          case 10:
            cook.is_forced = field.value != 0;
            return is_varint;
          case 11:
            cook.request_time = DurationOf(field.value);
            return is_varint;
          case 12:
            cook.queue_time = DurationOf(field.value);
            return is_varint;
          case 13:
            cook.in_hand_time = DurationOf(field.value);
            return is_varint;
          case 14:
            return TakeNumber(field, cook.attempts);
          default:
            return false;
        }
      }));
  return cook;
}

absl::StatusOr<InstigatorRecord> DecodeInstigator(std::string_view bytes) {
  InstigatorRecord instigator;
  RETURN_IF_ERROR(
      ReadFields(bytes, "an instigator", [&](const Field& field) -> absl::StatusOr<bool> {
        switch (field.number) {
          case 1:
            return TakeNumber(field, instigator.category);
          case 2:
            return TakeText(field, instigator.referencer);
          default:
            return false;
        }
      }));
  return instigator;
}

absl::StatusOr<AttemptRecord::Target> DecodeTarget(std::string_view bytes) {
  AttemptRecord::Target target;
  RETURN_IF_ERROR(ReadFields(bytes, "a target", [&](const Field& field) -> absl::StatusOr<bool> {
    switch (field.number) {
      case 1:
        return TakeNumber(field, target.platform);
      case 2:
        return TakeText(field, target.name);
      case 3:
        return TakeDigest(field, target.recipe);
      default:
        return false;
    }
  }));
  return target;
}

absl::StatusOr<bool> TakePlatformField(const Field& field, PlatformRecord& record) {
  switch (field.number) {
    case 1:
      return TakeDigest(field, record.recipe);
    case 2:
      return TakeDigest(field, record.source);
    case 3:
      return TakeDigest(field, record.weak_key);
    case 4:
      return TakeDigest(field, record.action_key);
    case 5:
      return TakeText(field, record.recipe_bytes);
    case 6:
      return TakeText(field, record.result);
    case 7: {
      if (field.type != Type::kBytes) return false;
      absl::StatusOr<std::vector<record::Observed>> observed = record::DecodeObserved(field.bytes);
      if (!observed.ok()) return Damaged("an observation set", MessageOf(observed.status()));
      record.observed = std::move(observed).value();
      return true;
    }
    case 8: {
      if (field.type != Type::kBytes) return false;
      ASSIGN_OR_RETURN(record.last_cook, DecodeLastCook(field.bytes));
      return true;
    }
    default:
      return false;
  }
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
  RETURN_IF_ERROR(ReadFields(bytes.substr(kDigestBytes), "a published key",
                             [&](const Field& field) -> absl::StatusOr<bool> {
                               if (field.number == 1) return TakeDigest(field, in.root);
                               return field.number == 2 && TakeNumber(field, in.sequence);
                             }));
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
  RETURN_IF_ERROR(ReadFields(bytes, "a failure", [&](const Field& field) -> absl::StatusOr<bool> {
    switch (field.number) {
      case 1:
        return TakeNumber(field, failure.cook);
      case 2:
        failure.time = absl::FromUnixNanos(static_cast<int64_t>(field.value));
        return field.type == Type::kVarint;
      case 3:
        return TakeText(field, failure.stage);
      case 4:
        return TakeText(field, failure.error);
      case 5:
        return TakeText(field, failure.log);
      case 6:
        return TakeText(field, failure.cause);
      case 7:
        return TakeText(field, failure.worker);
      case 8:
        return TakeNumber(field, failure.attempt);
      case 9:
        return TakeNumber(field, failure.attempts);
      case 10:
        return TakeNumber(field, failure.own_faults);
      case 11:
        return TakeNumber(field, failure.infrastructure_faults);
      default:
        return false;
    }
  }));
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
  return writer.Take();
}

absl::StatusOr<JournalMeta> DecodeMeta(std::string_view bytes) {
  JournalMeta meta;
  RETURN_IF_ERROR(
      ReadFields(bytes, "its meta record", [&](const Field& field) -> absl::StatusOr<bool> {
        switch (field.number) {
          case 1:
            return TakeText(field, meta.project_id);
          case 2:
            return TakeText(field, meta.store_id);
          case 3:
            return TakeNumber(field, meta.loss_epoch);
          case 4:
            return TakeNumber(field, meta.term);
          case 5:
            return TakeText(field, meta.table_file);
          case 6:
            return TakeText(field, meta.trust_domain);
          case 7:
            return TakeNumber(field, meta.store_commits);
          default:
            return false;
        }
      }));
  return meta;
}

std::string EncodePlatformRecord(const PlatformRecord& record) {
  WireWriter writer;
  writer.Element(1, EncodeDigest(record.recipe));
  writer.Element(2, EncodeDigest(record.source));
  writer.Element(3, EncodeDigest(record.weak_key));
  writer.Element(4, EncodeDigest(record.action_key));
  writer.Bytes(5, record.recipe_bytes);
  writer.Bytes(6, record.result);
  writer.Bytes(7, record::EncodeObserved(record.observed));
  writer.Bytes(8, EncodeLastCook(record.last_cook));
  return writer.Take();
}

absl::StatusOr<PlatformRecord> DecodePlatformRecord(std::string_view bytes) {
  PlatformRecord record;
  RETURN_IF_ERROR(ReadFields(bytes, "a package's record",
                             [&](const Field& field) { return TakePlatformField(field, record); }));
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
  RETURN_IF_ERROR(ReadFields(bytes, "instigators", [&](const Field& field) -> absl::StatusOr<bool> {
    if (field.number != 1 || field.type != Type::kBytes) return false;
    ASSIGN_OR_RETURN(InstigatorRecord instigator, DecodeInstigator(field.bytes));
    instigators.push_back(std::move(instigator));
    return true;
  }));
  return instigators;
}

std::string EncodeSequence(uint64_t sequence) {
  WireWriter writer;
  writer.Varint(1, sequence);
  return writer.Take();
}

absl::StatusOr<uint64_t> DecodeSequence(std::string_view bytes) {
  uint64_t sequence = 0;
  RETURN_IF_ERROR(ReadFields(bytes, "a sequence", [&](const Field& field) -> absl::StatusOr<bool> {
    return field.number == 1 && TakeNumber(field, sequence);
  }));
  return sequence;
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
  RETURN_IF_ERROR(ReadFields(bytes, "an attempt", [&](const Field& field) -> absl::StatusOr<bool> {
    switch (field.number) {
      case 1:
        return TakeText(field, attempt.worker);
      case 2:
        return TakeText(field, attempt.package);
      case 3: {
        if (field.type != Type::kBytes) return false;
        ASSIGN_OR_RETURN(attempt.targets.emplace_back(), DecodeTarget(field.bytes));
        return true;
      }
      case 4:
        return TakeDigest(field, attempt.generated_source.emplace());
      default:
        return false;
    }
  }));
  return attempt;
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
  RETURN_IF_ERROR(ReadFields(bytes, "blame", [&](const Field& field) -> absl::StatusOr<bool> {
    switch (field.number) {
      case 1:
        return TakeNumber(field, blame.own_faults);
      case 2:
        return TakeText(field, blame.what);
      case 3:
        return TakeText(field, blame.error);
      case 4:
        return TakeText(field, blame.log);
      default:
        return false;
    }
  }));
  return blame;
}

std::string EncodeIndexEntries(const IndexEntries& entries) {
  WireWriter writer;
  for (const std::string& path : entries.paths) writer.Element(1, path);
  for (const std::string& folder : entries.folders) writer.Element(2, folder);
  for (const std::string& input : entries.cooked_inputs) writer.Element(3, input);
  return writer.Take();
}

absl::StatusOr<IndexEntries> DecodeIndexEntries(std::string_view bytes) {
  IndexEntries entries;
  RETURN_IF_ERROR(
      ReadFields(bytes, "index entries", [&](const Field& field) -> absl::StatusOr<bool> {
        if (field.type != Type::kBytes) return false;
        switch (field.number) {
          case 1:
            entries.paths.emplace_back(field.bytes);
            return true;
          case 2:
            entries.folders.emplace_back(field.bytes);
            return true;
          case 3:
            entries.cooked_inputs.emplace_back(field.bytes);
            return true;
          default:
            return false;
        }
      }));
  return entries;
}

}  // namespace galley::director
