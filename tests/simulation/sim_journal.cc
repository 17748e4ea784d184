#include "tests/simulation/sim_journal.h"

#include <set>

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/store/local/segment_format.h"
#include "director/journal/encoding.h"
#include "director/journal/index.h"
#include "director/journal/keys.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a journal of it

namespace {

const std::string kFolder = "journal";
const std::string kLog = "journal/log";
const std::string kNewLog = "journal/log.new";

std::string Number(uint64_t value) {
  std::string text(8, '\0');
  for (char& byte : text) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return text;
}

uint64_t NumberAt(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

}  // namespace

SimJournal::SimJournal(Disk& disk) : disk_(disk) { Recover(); }

void SimJournal::Recover() {
  const std::string_view log = disk_.Has(kLog) ? *disk_.Read(kLog) : std::string_view();
  uint64_t end = 0;
  while (end + 16 <= log.size()) {
    const uint64_t size = NumberAt(log.substr(end));
    if (size > log.size() - end - 16) break;
    const std::string_view frame = log.substr(end + 16, size);
    if (store::Checksum(frame) != NumberAt(log.substr(end + 8))) break;
    Batch batch;
    for (WireReader reader(frame); !reader.AtEnd();) {
      const auto field = reader.Next();
      if (!field.ok()) break;
      if (field->number == 1) {
        batch.emplace_back(std::string(field->bytes), std::nullopt);
      } else {
        batch.back().second = std::string(field->bytes);
      }
    }
    Apply(batch);
    end += 16 + size;
  }
  WriteAnew();
  if (const auto meta = entries_.find(std::string(kMetaKey)); meta != entries_.end())
    meta_ = *DecodeMeta(meta->second);
}

void SimJournal::WriteAnew() {
  if (disk_.Has(kNewLog)) disk_.Remove(kNewLog);
  disk_.Append(kNewLog, FrameOf(Batch(entries_.begin(), entries_.end())));
  if (!disk_.Sync(kNewLog).ok()) throw Disk::Crash();
  disk_.Rename(kNewLog, kLog);
  (void)disk_.SyncFolder(kFolder);
}

std::string SimJournal::FrameOf(const Batch& batch) {
  WireWriter frame;
  for (const auto& [key, value] : batch) {
    frame.Element(1, key);
    if (value) frame.Element(2, *value);
  }
  return Number(frame.bytes().size()) + Number(store::Checksum(frame.bytes())) + frame.bytes();
}

void SimJournal::Apply(const Batch& batch) {
  for (const auto& [key, value] : batch) {
    if (value) {
      entries_[key] = *value;
    } else {
      entries_.erase(key);
    }
  }
}

absl::Status SimJournal::Write(const Batch& batch, bool sync) {
  if (batch.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(fence_.Check());
  if (is_broken_) return absl::InternalError("the journal met a failed sync: open it anew");
  if (wrote) wrote();
  disk_.Append(kLog, FrameOf(batch));
  if (sync) {
    const absl::Status synced = disk_.Sync(kLog);
    is_broken_ = !synced.ok();
    RETURN_IF_ERROR(synced);
  }
  Apply(batch);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<PackageRecord>> SimJournal::Find(std::string_view package) {
  if (fails && fails()) return absl::InternalError("the journal: input/output error");
  return Read(package);
}

absl::StatusOr<std::optional<PackageRecord>> SimJournal::Read(std::string_view package) {
  PackageRecord record;
  const std::string prefix = PackagePrefix(package);
  for (auto at = entries_.lower_bound(prefix);
       at != entries_.end() && at->first.starts_with(prefix); ++at) {
    const PackageKeyParts parts = *ParsePackageKey(at->first);
    const std::string platform(parts.platform);
    switch (parts.tag) {
      case kInstigatorsTag: {
        ASSIGN_OR_RETURN(record.instigators, DecodeInstigators(at->second));
        break;
      }
      case kRecordTag: {
        ASSIGN_OR_RETURN(record.platforms[platform], DecodePlatformRecord(at->second));
        const auto published = entries_.find(PackageKey(package, kPublishedTag, platform));
        if (published != entries_.end()) {
          ASSIGN_OR_RETURN(const Published held, DecodePublished(published->second));
          record.platforms[platform].published_key = held.key;
          record.platforms[platform].published_in = held.in;
        }
        break;
      }
      case kFailureTag: {
        ASSIGN_OR_RETURN(record.failures[platform], DecodeFailure(at->second));
        break;
      }
      case kUntrustedTag:
        record.platforms[platform].is_trusted = false;
        break;
      default:
        break;
    }
  }
  if (record.platforms.empty() && record.instigators.empty() && record.failures.empty())
    return std::nullopt;
  return record;
}

absl::StatusOr<std::vector<InstigatorRecord>> SimJournal::InstigatorsOf(std::string_view package) {
  const auto found = entries_.find(PackageKey(package, kInstigatorsTag, {}));
  if (found == entries_.end()) return std::vector<InstigatorRecord>();
  return DecodeInstigators(found->second);
}

absl::Status SimJournal::ForEach(
    const std::function<void(std::string_view, PackageRecord)>& visit) {
  std::set<std::string> names;
  for (auto at = entries_.lower_bound("P"); at != entries_.end() && at->first.starts_with("P");
       ++at)
    names.emplace(ParsePackageKey(at->first)->package);
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(std::optional<PackageRecord> record, Read(name));
    if (record) visit(name, std::move(*record));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> SimJournal::Affected(
    std::span<const content::Change> changes) {
  if (fails && fails()) return absl::InternalError("the journal: input/output error");
  std::set<std::string> affected;
  AskedOfIndex asked = AskedBy(changes);
  std::vector<std::string> prefixes = std::move(asked.prefixes);
  const auto add = [&](const std::string& package) {
    if (affected.insert(package).second) prefixes.push_back(IndexPrefix(kCookedKind, package));
  };
  const auto each = [&](const std::string& prefix, const auto& visit) {
    for (auto at = entries_.lower_bound(prefix);
         at != entries_.end() && at->first.starts_with(prefix); ++at)
      visit(at->first.substr(prefix.size()), at->second);
  };
  for (const std::string& package : asked.packages)
    each(PackageKey(package, kRecordTag, {}),
         [&](const std::string&, const std::string&) { add(package); });
  for (const auto& [prefix, names] : asked.beside) {
    each(prefix, [&](const std::string& package, const std::string& value) {
      if (MayMeet(value, names)) add(package);
    });
  }
  while (!prefixes.empty()) {
    const std::string prefix = std::move(prefixes.back());
    prefixes.pop_back();
    each(prefix, [&](const std::string& package, const std::string&) { add(package); });
  }
  return std::vector<std::string>(affected.begin(), affected.end());
}

absl::Status SimJournal::Invalidate(std::span<const std::string> packages,
                                    const JournalMeta& meta) {
  Batch batch;
  for (const std::string& package : packages) {
    const std::string prefix = PackagePrefix(package) + kRecordTag;
    for (auto at = entries_.lower_bound(prefix);
         at != entries_.end() && at->first.starts_with(prefix); ++at)
      batch.emplace_back(PackageKey(package, kUntrustedTag, at->first.substr(prefix.size())), "");
  }
  for (const std::string& package : packages) batch.emplace_back(BlameKey(package), std::nullopt);
  batch.emplace_back(std::string(kMetaKey), EncodeMeta(meta));
  RETURN_IF_ERROR(Write(batch, true));
  meta_ = meta;
  return absl::OkStatus();
}

absl::Status SimJournal::Record(std::span<const JournalUpdate> updates, bool sync) {
  Batch batch;
  std::map<std::string, IndexEntries> indexed;  // by package
  for (const JournalUpdate& update : updates) {
    PlatformRecord record = update.record;
    ASSIGN_OR_RETURN(record.observed, record::Canonical(std::move(record.observed)));
    batch.emplace_back(PackageKey(update.package, kRecordTag, update.platform),
                       EncodePlatformRecord(record));
    batch.emplace_back(PackageKey(update.package, kUntrustedTag, update.platform),
                       record.is_trusted ? std::nullopt : std::optional<std::string>(""));
    batch.emplace_back(PackageKey(update.package, kPublishedTag, update.platform),
                       record.published_key ? std::optional<std::string>(EncodePublished(
                                                  {*record.published_key, record.published_in}))
                                            : std::nullopt);
    batch.emplace_back(PackageKey(update.package, kFailureTag, update.platform), std::nullopt);
    // Entries of older records stay: they name packages that need not be looked at, no more.
    const auto [at, is_new] = indexed.try_emplace(update.package);
    if (is_new) {
      ASSIGN_OR_RETURN(const std::optional<PackageRecord> before, Read(update.package));
      for (const auto& [platform, old] : before.value_or(PackageRecord()).platforms)
        AddEntriesOf(update.package, old.observed, at->second);
    }
    AddEntriesOf(update.package, record.observed, at->second);
  }
  for (const auto& [package, entries] : indexed) {
    for (auto& [key, value] : IndexRecordsOf(package, entries)) batch.emplace_back(key, value);
  }
  return Write(batch, sync);
}

absl::Status SimJournal::RecordFailures(std::span<const FailureUpdate> updates) {
  Batch batch;
  for (const FailureUpdate& update : updates)
    batch.emplace_back(
        PackageKey(update.package, kFailureTag, update.platform),
        update.failure ? std::optional<std::string>(EncodeFailure(*update.failure)) : std::nullopt);
  return Write(batch, false);
}

absl::Status SimJournal::RecordInstigators(
    std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) {
  Batch batch;
  for (const auto& [package, instigators] : updates)
    batch.emplace_back(PackageKey(package, kInstigatorsTag, {}), EncodeInstigators(instigators));
  return Write(batch, false);
}

absl::Status SimJournal::RecordPublished(
    std::string_view platform, const PublishedIn& in,
    std::span<const std::pair<std::string, std::optional<Digest>>> keys) {
  Batch batch;
  for (const auto& [package, key] : keys) {
    batch.emplace_back(
        PackageKey(package, kPublishedTag, platform),
        key ? std::optional<std::string>(EncodePublished({*key, in})) : std::nullopt);
  }
  batch.emplace_back(PublishedSequenceKey(platform), EncodeLastPublished(in));
  return Write(batch, true);
}

absl::StatusOr<std::vector<std::string>> SimJournal::PublishedPackages(std::string_view platform) {
  std::vector<std::string> packages;
  for (const auto& [key, value] : entries_) {
    const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
    if (parts && parts->tag == kPublishedTag && parts->platform == platform)
      packages.emplace_back(parts->package);
  }
  return packages;
}

absl::StatusOr<PublishedIn> SimJournal::LastPublished(std::string_view platform) {
  const auto found = entries_.find(PublishedSequenceKey(platform));
  if (found == entries_.end()) return PublishedIn();
  return DecodeLastPublished(found->second);
}

absl::Status SimJournal::RecordProgress(const JournalProgress& progress) {
  Batch batch;
  for (const AttemptRecord& attempt : progress.given)
    batch.emplace_back(AttemptKey(attempt.attempt), EncodeAttempt(attempt));
  for (const uint64_t attempt : progress.over)
    batch.emplace_back(AttemptKey(attempt), std::nullopt);
  for (const BlameRecord& blame : progress.blamed)
    batch.emplace_back(BlameKey(blame.package),
                       blame.own_faults > 0 ? std::optional(EncodeBlame(blame)) : std::nullopt);
  return Write(batch, false);
}

absl::StatusOr<JournalProgress> SimJournal::Progress() {
  JournalProgress progress;
  for (const auto& [key, value] : entries_) {
    if (key.starts_with(kAttemptPrefix)) {
      ASSIGN_OR_RETURN(progress.given.emplace_back(), DecodeAttempt(value));
      progress.given.back().attempt = *ParseAttemptKey(key);
    } else if (key.starts_with(kBlamePrefix)) {
      ASSIGN_OR_RETURN(progress.blamed.emplace_back(), DecodeBlame(value));
      progress.blamed.back().package = key.substr(kBlamePrefix.size());
    }
  }
  return progress;
}

absl::Status SimJournal::ForgetProgress() {
  Batch batch;
  for (const auto& [key, value] : entries_) {
    if (key.starts_with(kAttemptPrefix) || key.starts_with(kBlamePrefix))
      batch.emplace_back(key, std::nullopt);
  }
  return Write(batch, true);
}

absl::Status SimJournal::Forget(std::span<const std::string> packages) {
  Batch batch;
  for (const std::string& package : packages) {
    const std::string prefix = PackagePrefix(package);
    for (auto at = entries_.lower_bound(prefix);
         at != entries_.end() && at->first.starts_with(prefix); ++at)
      batch.emplace_back(at->first, std::nullopt);
    batch.emplace_back(BlameKey(package), std::nullopt);
  }
  return Write(batch, true);
}

}  // namespace galley::simulation
