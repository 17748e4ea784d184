#include "tests/simulation/sim_journal.h"

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/store/local/fixed_fields.h"
#include "common/store/local/segment_format.h"
#include "director/journal/encoding.h"
#include "director/journal/keys.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a journal of it

namespace {

const std::string kFolder = "journal";
const std::string kLog = "journal/log";
const std::string kNewLog = "journal/log.new";

}  // namespace

SimJournal::SimJournal(Disk& disk) : disk_(disk) { Recover(); }

void SimJournal::Recover() {
  const std::string_view log = disk_.Has(kLog) ? *disk_.Read(kLog) : std::string_view();
  uint64_t end = 0;
  while (end + 16 <= log.size()) {
    const uint64_t size = store::GetFixed64(log, end);
    if (size > log.size() - end - 16) break;
    const std::string_view frame = log.substr(end + 16, size);
    if (store::Checksum(frame) != store::GetFixed64(log, end + 8)) break;
    JournalChanges changes;
    std::string key;
    for (WireReader reader(frame); !reader.AtEnd();) {
      const auto field = reader.Next();
      if (!field.ok()) break;
      if (field->number == 1) key = std::string(field->bytes);
      if (field->number == 2) changes.Put(key, std::string(field->bytes));
      if (field->number == 3) changes.Delete(std::string(field->bytes));
    }
    Apply(changes);
    end += 16 + size;
  }
  WriteAnew();
  if (const auto meta = entries_.find(std::string(kMetaKey)); meta != entries_.end())
    TakeMeta(*DecodeMeta(meta->second));
}

void SimJournal::WriteAnew() {
  JournalChanges all;
  for (const auto& [key, value] : entries_) all.Put(key, value);
  if (disk_.Has(kNewLog)) disk_.Remove(kNewLog);
  disk_.Append(kNewLog, FrameOf(all));
  if (!disk_.Sync(kNewLog).ok()) throw Disk::Crash();
  disk_.Rename(kNewLog, kLog);
  (void)disk_.SyncFolder(kFolder);
}

std::string SimJournal::FrameOf(const JournalChanges& changes) {
  WireWriter frame;
  for (const JournalChanges::Change* change : changes.InOrder()) {
    frame.Element(change->value ? 1 : 3, change->key);
    if (change->value) frame.Element(2, *change->value);
  }
  std::string framed;
  store::PutFixed64(framed, frame.bytes().size());
  store::PutFixed64(framed, store::Checksum(frame.bytes()));
  return framed + frame.bytes();
}

void SimJournal::Apply(const JournalChanges& changes) {
  for (const JournalChanges::Change* change : changes.InOrder()) {
    if (change->value) {
      entries_[change->key] = *change->value;
    } else {
      entries_.erase(change->key);
    }
  }
}

absl::Status SimJournal::Write(const JournalChanges& changes, bool sync) {
  if (changes.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(fence_.Check());
  if (is_broken_) return absl::InternalError("the journal met a failed sync: open it anew");
  if (wrote) wrote();
  disk_.Append(kLog, FrameOf(changes));
  if (sync) {
    const absl::Status synced = disk_.Sync(kLog);
    is_broken_ = !synced.ok();
    RETURN_IF_ERROR(synced);
  }
  Apply(changes);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> SimJournal::Get(const std::string& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

absl::Status SimJournal::Each(std::string_view prefix, Visit visit) {
  for (auto at = entries_.lower_bound(std::string(prefix));
       at != entries_.end() && at->first.starts_with(prefix); ++at)
    RETURN_IF_ERROR(visit(at->first, at->second));
  return absl::OkStatus();
}

absl::Status SimJournal::Fails() const {
  return fails && fails() ? absl::InternalError("the journal: input/output error")
                          : absl::OkStatus();
}

absl::StatusOr<std::optional<PackageRecord>> SimJournal::Find(std::string_view package) {
  RETURN_IF_ERROR(Fails());
  return StoredJournal::Find(package);
}

absl::StatusOr<std::vector<std::string>> SimJournal::Affected(
    std::span<const content::Change> changes) {
  RETURN_IF_ERROR(Fails());
  return StoredJournal::Affected(changes);
}

}  // namespace galley::simulation
