#include "tests/simulation/sim_store.h"

#include <algorithm>
#include <cstdio>

#include "common/base/status_macros.h"
#include "common/record/dispute.h"
#include "common/record/result.h"
#include "common/store/interface/check_bytes.h"
#include "common/store/interface/commit_order.h"
#include "common/store/interface/named_blobs.h"

namespace galley::simulation {

using store::BlobLocation;
using store::RecordHeader;
using store::RecordKind;

namespace {

constexpr std::string_view kSegments = "store/segments";
constexpr std::string_view kFiles = "store/files";
const std::string kMark = "store/syncing";
const std::string kEpoch = "store/epoch";
constexpr std::string_view kStoreId = "00000000000000000000000000000001";

void BeginSegment(Disk& disk, uint64_t segment, store::SegmentWriterKind writer) {
  const std::string name = SegmentName(segment);
  if (disk.SizeOf(name) >= store::kSegmentHeaderBytes) return;
  disk.Truncate(name, 0);
  disk.Append(name, store::EncodeSegmentHeader(
                        {.writer = writer, .number = segment, .store_id = std::string(kStoreId)}));
}

uint64_t AppendRecord(Disk& disk, uint64_t segment, RecordKind kind, const Digest& key,
                      std::string_view payload) {
  const std::string name = SegmentName(segment);
  const uint64_t offset = disk.SizeOf(name);
  std::string bytes = store::EncodeRecordHeader({.kind = kind,
                                                 .payload_bytes = payload.size(),
                                                 .key = key,
                                                 .payload_checksum = store::Checksum(payload)},
                                                segment, offset);
  bytes += payload;
  bytes.resize(store::RecordSpan(payload.size()));
  disk.Append(name, bytes);
  return offset;
}

// The header of a record; its payload lies behind it.
absl::StatusOr<RecordHeader> HeaderAt(std::string_view bytes, uint64_t segment, uint64_t offset) {
  if (offset + store::kRecordHeaderBytes > bytes.size()) return absl::DataLossError("torn header");
  ASSIGN_OR_RETURN(
      const RecordHeader header,
      store::DecodeRecordHeader(bytes.substr(offset, store::kRecordHeaderBytes), segment, offset));
  if (offset + store::kRecordHeaderBytes + header.payload_bytes > bytes.size())
    return absl::DataLossError("torn payload");
  return header;
}

uint64_t SegmentOf(std::string_view name) {
  return std::strtoull(std::string(name.substr(kSegments.size() + 1)).c_str(), nullptr, 16);
}

}  // namespace

std::string SegmentName(uint64_t segment) {
  char text[32];
  std::snprintf(text, sizeof text, "/%016llx", static_cast<unsigned long long>(segment));
  return std::string(kSegments) + text;
}

std::string BlobFileName(const Digest& digest) { return std::string(kFiles) + "/" + digest.hex(); }

BlobLocation WriteBlob(Disk& disk, uint64_t segment, const Digest& digest, std::string_view bytes,
                       bool is_large) {
  if (!is_large) {
    BeginSegment(disk, segment, store::SegmentWriterKind::kWorker);
    return {segment, AppendRecord(disk, segment, RecordKind::kBlob, digest, bytes)};
  }
  // An existing file is kept if it is right: it may be synced, and a new file is not.
  if (const auto there = disk.Read(BlobFileName(digest)); there.ok() && *there == bytes) return {};
  const std::string temporary = "store/tmp/" + std::to_string(segment) + digest.hex();
  disk.Append(temporary, bytes);
  disk.Rename(temporary, BlobFileName(digest));
  return {};
}

absl::StatusOr<std::string> ReadBlob(const Disk& disk, const Digest& digest,
                                     const BlobLocation& location) {
  const bool is_file = location.segment == 0;
  ASSIGN_OR_RETURN(const std::string_view bytes,
                   disk.Read(is_file ? BlobFileName(digest) : SegmentName(location.segment)));
  if (is_file) return std::string(bytes);
  ASSIGN_OR_RETURN(const RecordHeader header, HeaderAt(bytes, location.segment, location.offset));
  if (header.kind != RecordKind::kBlob || header.key != digest)
    return absl::DataLossError("another record lies there");
  return std::string(
      bytes.substr(location.offset + store::kRecordHeaderBytes, header.payload_bytes));
}

absl::StatusOr<std::string> ReadVerified(const Disk& disk, const Digest& digest,
                                         const BlobLocation& location) {
  ASSIGN_OR_RETURN(std::string bytes, ReadBlob(disk, digest, location));
  if (!store::AreBytesOf(digest, bytes))
    return absl::DataLossError("blob " + digest.ToString() + ": other bytes lie there");
  return bytes;
}

SimStore::SimStore(Disk& disk)
    : disk_(disk),
      mark_({.append =
                 [this](const std::string& bytes) {
                   disk_.Append(kMark, bytes);
                   return absl::OkStatus();
                 },
             .remove =
                 [this] {
                   disk_.Remove(kMark);
                   return absl::OkStatus();
                 }}) {
  Recover();
}

void SimStore::Recover() {
  for (const std::string& name : disk_.List(kSegments)) {
    const uint64_t segment = SegmentOf(name);
    segment_next_ = std::max(segment_next_, segment + 1);
    if (!IsOwners(name, segment)) doubtful_.Note(segment, disk_.SizeOf(name));
  }
  if (const auto mark = disk_.Read(kMark); mark.ok()) found_mark_ = store::DecodeSyncMark(*mark);
  const absl::Status opened =
      store::OpenInOrder({.is_marked = found_mark_.is_marked,
                          .raise_mark = [this] { return mark_.Raise({}); },
                          .write_log_anew = [this] { return WriteLogAnew(); },
                          .sync_and_read_log = [this] { return SyncAndReadLog(); },
                          .write_files_anew = [this] { return WriteFilesAnew(); },
                          .settle = [] { return absl::OkStatus(); },
                          .lower_mark = [this] { return mark_.Lower(); }});
  if (!opened.ok()) throw Disk::Crash();  // the director ends
  if (const auto epoch = disk_.Read(kEpoch); epoch.ok())
    loss_epoch_ = std::max<uint64_t>(loss_epoch_, epoch->size());
  ReadLeases();
  // A new owner writes to a segment of its own, so that it need not know where a torn tail begins.
  log_ = segment_next_++;
  BeginSegment(disk_, log_, store::SegmentWriterKind::kOwner);
  // In the product a kept index tells how long segments were.
  if (disk_.TakeDestroyed()) RaiseEpoch();
}

// Whether the segment's header says that it is an owner's.
bool SimStore::IsOwners(const std::string& name, uint64_t segment) const {
  const std::string_view bytes = *disk_.Read(name);
  if (bytes.size() < store::kSegmentHeaderBytes) return false;
  const auto header =
      store::DecodeSegmentHeader(bytes.substr(0, store::kSegmentHeaderBytes), segment);
  return header.ok() && header->writer == store::SegmentWriterKind::kOwner;
}

absl::Status SimStore::WriteAnew(const std::string& path) {
  static const std::string kTemporary = "store/tmp/anew";
  if (disk_.Has(kTemporary)) disk_.Remove(kTemporary);
  disk_.Append(kTemporary, std::string(*disk_.Read(path)));
  RETURN_IF_ERROR(disk_.Sync(kTemporary));
  disk_.Rename(kTemporary, path);
  return absl::OkStatus();
}

absl::Status SimStore::WriteLogAnew() {
  for (const std::string& name : disk_.List(kSegments)) {
    if (IsOwners(name, SegmentOf(name))) RETURN_IF_ERROR(WriteAnew(name));
  }
  return disk_.SyncFolder(std::string(kSegments));
}

absl::Status SimStore::WriteFilesAnew() {
  std::set<std::string> known;
  for (const auto& [digest, location] : blobs_) {
    if (location.segment == 0) known.insert(BlobFileName(digest));
  }
  for (const Digest& digest : found_mark_.files) {
    const std::string path = BlobFileName(digest);
    if (known.contains(path) || !disk_.Has(path)) continue;
    if (BlobFileName(Digest::Of(*disk_.Read(path))) == path) {
      RETURN_IF_ERROR(WriteAnew(path));
    } else {
      disk_.Remove(path);
    }
  }
  return absl::OkStatus();
}

// Reads each segment up to its last whole record.
absl::Status SimStore::SyncAndReadLog() {
  RETURN_IF_ERROR(disk_.SyncFolder(std::string(kSegments)));
  for (const std::string& name : disk_.List(kSegments)) {
    const uint64_t segment = SegmentOf(name);
    if (!IsOwners(name, segment)) continue;
    RETURN_IF_ERROR(disk_.Sync(name));
    ReadLog(name, segment);
  }
  return absl::OkStatus();
}

void SimStore::ReadLog(const std::string& name, uint64_t segment) {
  std::string_view bytes = *disk_.Read(name);
  // Bytes that are not synced yet will be gone if the sync fails (SyncLog).
  if (segment == log_) bytes = bytes.substr(0, log_synced_);
  for (uint64_t offset = store::kSegmentHeaderBytes; true;) {
    const auto record = HeaderAt(bytes, segment, offset);
    if (!record.ok()) break;
    const std::string_view payload =
        bytes.substr(offset + store::kRecordHeaderBytes, record->payload_bytes);
    // A blob's bytes are verified when they are read.
    if (record->kind != RecordKind::kBlob && store::Checksum(payload) != record->payload_checksum)
      break;
    Take(record->kind, record->key, payload, {segment, offset});
    offset += store::RecordSpan(record->payload_bytes);
  }
}

void SimStore::LoseIndex() {
  blobs_.clear();
  sets_.clear();
  results_.clear();
  places_.clear();
  roots_.clear();
  const uint64_t epoch = loss_epoch_;
  for (const std::string& name : disk_.List(kSegments)) {
    if (IsOwners(name, SegmentOf(name))) ReadLog(name, SegmentOf(name));
  }
  loss_epoch_ = std::max(loss_epoch_, epoch);
  RaiseEpoch();
}

void SimStore::Take(RecordKind kind, const Digest& key, std::string_view payload,
                    const BlobLocation& place) {
  switch (kind) {
    case RecordKind::kBlob:
      blobs_[key] = place;
      return;
    case RecordKind::kAdopted:
      if (const auto adopted = store::DecodeAdopted(payload); adopted.ok()) {
        for (const auto& [digest, location] : *adopted) blobs_[digest] = location;
      }
      return;
    case RecordKind::kObservationSet: {
      std::vector<std::string>& sets = sets_[key];
      std::erase(sets, payload);
      sets.insert(sets.begin(), std::string(payload));
      if (sets.size() > kSetsMax) sets.resize(kSetsMax);
      return;
    }
    case RecordKind::kResult:
      results_[key] = std::string(payload);
      places_[key] = place;
      return;
    case RecordKind::kPublished:
      if (const auto root = store::DecodePublished(payload); root.ok()) roots_.push_back(*root);
      return;
    case RecordKind::kLoss:
      if (const auto loss = store::DecodeLoss(payload); loss.ok()) {
        loss_epoch_ = std::max(loss_epoch_, loss->epoch);
        for (const Digest& digest : loss->blobs) blobs_.erase(digest);
      }
      return;
    case RecordKind::kForgotten:
      if (const auto keys = store::DecodeDigests(payload); keys.ok()) {
        for (const Digest& forgotten : *keys) results_.erase(forgotten);
      }
      return;
    case RecordKind::kCollected:
    case RecordKind::kActionResult:  // no other program speaks to it
      return;
  }
}

std::optional<BlobLocation> SimStore::LocationOf(const Digest& digest) const {
  for (const auto* map : {&blobs_, &pending_}) {
    if (const auto found = map->find(digest); found != map->end()) return found->second;
  }
  return std::nullopt;
}

bool SimStore::IsSafe(const Digest& action_key) const {
  const auto result = results_.find(action_key);
  const auto place = places_.find(action_key);
  return result != results_.end() && place != places_.end() &&
         disk_.IsSafe(SegmentName(place->second.segment), place->second.offset,
                      place->second.offset + store::kRecordHeaderBytes + result->second.size());
}

bool SimStore::IsInDispute(const Digest& action_key) const {
  const auto found = results_.find(action_key);
  return found != results_.end() && record::DecodeResult(found->second)->is_disputed;
}

std::vector<Digest> SimStore::disputes() const {
  std::vector<Digest> all = keys();
  std::erase_if(all, [this](const Digest& key) { return !IsInDispute(key); });
  return all;
}

absl::StatusOr<std::vector<Digest>> SimStore::FindMissing(std::span<const Digest> digests) {
  std::vector<Digest> missing;
  for (const Digest& digest : digests) {
    const bool is_there = LocationOf(digest).has_value();
    if (!is_there) missing.push_back(digest);
    if (is_there && tells) tells(digest);
  }
  return missing;
}

absl::StatusOr<Blob> SimStore::Get(const Digest& digest) {
  const std::optional<BlobLocation> location = LocationOf(digest);
  if (!location) return absl::NotFoundError("blob " + digest.ToString() + " is not in the store");
  absl::StatusOr<std::string> bytes = ReadVerified(disk_, digest, *location);
  if (bytes.ok() && tells) tells(digest);
  if (bytes.ok()) return MakeBlob(*std::move(bytes));
  if (gives_up) gives_up(digest, WhatLiesFor(digest).value_or(Digest()));
  Lose({digest});
  return absl::DataLossError(bytes.status().message());
}

std::optional<Digest> SimStore::WhatLiesFor(const Digest& blob) const {
  const std::optional<BlobLocation> location = LocationOf(blob);
  if (!location) return std::nullopt;
  const auto bytes = ReadBlob(disk_, blob, *location);
  return bytes.ok() ? std::optional(Digest::Of(*bytes)) : std::nullopt;
}

absl::Status SimStore::Fails() const {
  return fails && fails() ? absl::InternalError("input/output error") : absl::OkStatus();
}

absl::Status SimStore::Put(const Digest& digest, std::string_view bytes) {
  RETURN_IF_ERROR(Fails());
  if (Digest::Of(bytes) != digest) return absl::InvalidArgumentError("bytes of another digest");
  if (tells) tells(digest);
  if (!LocationOf(digest)) pending_[digest] = Append(RecordKind::kBlob, digest, bytes);
  return absl::OkStatus();
}

// Does the work of the product's file `epoch`: it is on the disk before anything is dropped. Its
// size is the epoch.
void SimStore::RaiseEpoch() {
  if (IsSabotaged(Sabotage::kHideLoss)) return;
  const std::string temporary = kEpoch + ".new";
  if (disk_.Has(temporary)) disk_.Remove(temporary);
  disk_.Append(temporary, std::string(++loss_epoch_, '.'));
  (void)disk_.Sync(temporary);
  disk_.Rename(temporary, kEpoch);
  (void)disk_.SyncFolder("store");
}

void SimStore::Lose(const std::vector<Digest>& digests) {
  RaiseEpoch();
  Append(RecordKind::kLoss, Digest(), store::EncodeLoss({.epoch = loss_epoch_, .blobs = digests}));
  for (const Digest& digest : digests) {
    blobs_.erase(digest);
    pending_.erase(digest);
    if (loses) loses(digest);
  }
}

absl::StatusOr<std::vector<Digest>> SimStore::FindLost(std::span<const Digest> digests) {
  std::set<Digest> gone;
  for (const Digest& digest : digests) {
    if (LocationOf(digest) && !IsOnDisk(digest)) gone.insert(digest);
  }
  if (!gone.empty() && !IsSabotaged(Sabotage::kBelieveIndex)) Lose({gone.begin(), gone.end()});
  return FindMissing(digests);
}

bool SimStore::IsOnDisk(const Digest& digest) const {
  const std::optional<BlobLocation> place = LocationOf(digest);
  if (!place) return false;
  if (place->segment == 0)
    return disk_.Has(BlobFileName(digest)) &&
           disk_.SizeOf(BlobFileName(digest)) == digest.size_bytes();
  return place->offset + store::kRecordHeaderBytes + digest.size_bytes() <=
         disk_.SizeOf(SegmentName(place->segment));
}

bool SimStore::LiesAt(const Digest& digest, const BlobLocation& place) const {
  const auto bytes = ReadBlob(disk_, digest, place);
  return bytes.ok() && Digest::Of(*bytes) == digest;
}

bool SimStore::IsOnDiskWithAll(const Digest& action_key) const {
  const auto result = results_.find(action_key);
  const auto place = places_.find(action_key);
  if (result == results_.end() || place == places_.end()) return false;
  if (disk_.SizeOf(SegmentName(place->second.segment)) <
      place->second.offset + store::kRecordHeaderBytes + result->second.size())
    return false;
  std::vector<Digest> named;
  store::AppendNamedBlobs(*record::DecodeResult(result->second), named);
  return std::ranges::all_of(named, [this](const Digest& digest) { return IsOnDisk(digest); });
}

SimStore::Destroyed SimStore::DestroySegment(Random& random, bool of_log) {
  std::vector<std::string> names = disk_.List(kSegments);
  const std::string newest = names.empty() ? "" : names.back();
  std::erase_if(names, [&](const std::string& name) {
    return name == SegmentName(log_) || (!of_log && IsOwners(name, SegmentOf(name)));
  });
  Destroyed destroyed;
  if (names.empty()) return destroyed;
  const std::string& name = names[random.Below(names.size())];
  uint64_t size = random.Percent(50) ? 0 : random.Below(disk_.SizeOf(name) / 8 + 1) * 8;
  // The product's index knows that the number is taken; here only the name does.
  if (name == newest) size = std::max<uint64_t>(size, 8);
  for (const auto& [key, place] : places_) {
    const auto result = results_.find(key);
    const uint64_t bytes = result == results_.end() ? 0 : result->second.size();
    if (SegmentName(place.segment) == name &&
        place.offset + store::kRecordHeaderBytes + bytes > size)
      destroyed.keys.push_back(key);
  }
  disk_.Destroy(name, size);
  destroyed.segment = SegmentOf(name);
  return destroyed;
}

bool SimStore::Rot(const Digest& digest, Random& random) {
  const std::optional<BlobLocation> place = LocationOf(digest);
  if (!place || digest.size_bytes() == 0) return false;
  const uint64_t at = random.Below(digest.size_bytes());
  if (place->segment == 0) {
    disk_.Rot(BlobFileName(digest), at);
  } else {
    disk_.Rot(SegmentName(place->segment), place->offset + store::kRecordHeaderBytes + at);
  }
  return true;
}

void SimStore::Evict(const Digest& digest) {
  Lose({digest});
  (void)SyncLogAlone();
}

absl::StatusOr<std::vector<std::vector<std::string>>> SimStore::ObservationSets(
    std::span<const Digest> weak_keys) {
  RETURN_IF_ERROR(Fails());
  std::vector<std::vector<std::string>> answer;
  for (const Digest& key : weak_keys) {
    const auto found = sets_.find(key);
    answer.push_back(found == sets_.end() ? std::vector<std::string>() : found->second);
  }
  return answer;
}

bool SimStore::IsComplete(const std::string& result) {
  return (*store::AreComplete({result}, [this](const auto& named) { return Locate(named); }))[0];
}

absl::StatusOr<std::vector<std::optional<std::string>>> SimStore::Results(
    std::span<const Digest> action_keys) {
  RETURN_IF_ERROR(Fails());
  std::vector<std::optional<std::string>> answer;
  for (const Digest& key : action_keys) {
    const auto found = results_.find(key);
    answer.push_back(found != results_.end() ? std::optional(found->second) : std::nullopt);
  }
  const auto complete =
      store::AreComplete(answer, [this](const auto& named) { return Locate(named); });
  for (size_t i = 0; i < answer.size(); ++i) {
    if (!(*complete)[i]) answer[i].reset();
  }
  return answer;
}

absl::StatusOr<store::StoreInfo> SimStore::Info() {
  return store::StoreInfo{.directory = "store",
                          .store_id = std::string(kStoreId),
                          .loss_epoch = loss_epoch_,
                          .disputed_epoch = loss_epoch_};
}

absl::StatusOr<uint64_t> SimStore::AllocateSegment() {
  RETURN_IF_ERROR(Fails());
  BeginSegment(disk_, segment_next_, store::SegmentWriterKind::kWorker);
  return segment_next_++;
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> SimStore::Locate(
    std::span<const Digest> digests) {
  std::vector<std::optional<BlobLocation>> answer;
  for (const Digest& digest : digests) answer.push_back(LocationOf(digest));
  return answer;
}

BlobLocation SimStore::Append(RecordKind kind, const Digest& key, std::string_view payload) {
  return {log_, AppendRecord(disk_, log_, kind, key, payload)};
}

absl::StatusOr<SimStore::Plan> SimStore::MakePlan(const store::CommitBatch& batch) {
  Plan plan;
  std::set<Digest> seen;
  for (const auto& [digest, location] : batch.blobs) {
    const auto there = ReadBlob(disk_, digest, location);
    if (!there.ok() || there->size() != digest.size_bytes()) {
      return absl::InvalidArgumentError("blob " + digest.ToString() + " is not where it is said");
    }
    if (blobs_.contains(digest) || !seen.insert(digest).second) continue;
    if (!doubtful_.Hold(location)) {
      plan.adopted.emplace_back(digest, location);
      continue;
    }
    const auto verified = ReadVerified(disk_, digest, location);
    if (!verified.ok()) return absl::InvalidArgumentError(verified.status().message());
    RETURN_IF_ERROR(Put(digest, *verified));
  }
  plan.named = plan.adopted;
  plan.named.insert(plan.named.end(), pending_.begin(), pending_.end());
  std::map<Digest, std::string> kept;
  for (const store::PutResult& put : batch.results) {
    const auto given = record::DecodeResult(put.result);
    if (!given.ok()) return absl::InvalidArgumentError("a result that is none");
    if (const auto old = results_.find(put.action_key);
        old != results_.end() && IsComplete(old->second))
      kept.insert(*old);
    const auto [at, is_new] = kept.emplace(put.action_key, put.result);
    const record::Result stored = *record::DecodeResult(at->second);
    const auto standing = is_new ? record::Standing::kGiven : record::JudgeDispute(stored, *given);
    if (standing == record::Standing::kGiven) plan.results.push_back(&put);
    if (standing == record::Standing::kDispute) {
      plan.disputes.push_back(put);
      plan.disputes.back().result = record::EncodeResult(record::DisputeOf(stored, *given));
      plan.results.push_back(&plan.disputes.back());
    }
    if (standing != record::Standing::kStored) at->second = plan.results.back()->result;
    if (standing != record::Standing::kGiven && !record::SameOutcome(stored, *given))
      plan.conflicts += " " + put.action_key.ToString();
  }
  return plan;
}

// A segment whose sync failed is never believed again: its unsynced bytes are gone.
absl::Status SimStore::SyncLog() {
  const absl::Status synced = disk_.Sync(SegmentName(log_));
  if (synced.ok()) log_synced_ = disk_.SizeOf(SegmentName(log_));
  if (synced.ok() || IsSabotaged(Sabotage::kRetrySync)) return synced;
  disk_.Truncate(SegmentName(log_), log_synced_);
  std::erase_if(pending_, [&](const auto& blob) {
    const bool is_gone = blob.second.segment == log_;
    if (is_gone && drops_unsynced) drops_unsynced(blob.first);
    return is_gone;
  });
  log_ = segment_next_++;
  log_synced_ = 0;
  BeginSegment(disk_, log_, store::SegmentWriterKind::kOwner);
  return synced;
}

// Syncs the log outside of a commit.
absl::Status SimStore::SyncLogAlone() {
  RETURN_IF_ERROR(mark_.Raise({}));
  RETURN_IF_ERROR(SyncLog());
  return mark_.Lower();
}

absl::Status SimStore::Write(const Plan& plan, const store::PublishedRoot* root) {
  if (wrote) wrote();
  const store::CommitSteps steps = {
      .raise_mark =
          [&] {
            std::vector<Digest> files;
            for (const auto& [digest, location] : plan.named) {
              if (location.segment == 0) files.push_back(digest);
            }
            return mark_.Raise(files);
          },
      .sync_named = [&]() -> absl::Status {
        std::set<std::string> paths;
        for (const auto& [digest, location] : plan.named) {
          if (location.segment == log_) continue;
          const std::string path =
              location.segment == 0 ? BlobFileName(digest) : SegmentName(location.segment);
          if (!paths.insert(path).second) continue;
          absl::Status synced = disk_.Sync(path);
          if (!synced.ok() && IsSabotaged(Sabotage::kRetrySync)) synced = disk_.Sync(path);
          if (synced.ok()) continue;
          if (location.segment == 0) {
            disk_.Remove(path);
          } else {
            doubtful_.Note(location.segment, disk_.SizeOf(path));
          }
          return synced;
        }
        return absl::OkStatus();
      },
      .sync_folders = [&]() -> absl::Status {
        RETURN_IF_ERROR(disk_.SyncFolder(std::string(kFiles)));
        return disk_.SyncFolder(std::string(kSegments));
      },
      .append = [&]() -> absl::Status {
        if (!plan.adopted.empty())
          Append(RecordKind::kAdopted, Digest(), store::EncodeAdopted(plan.adopted));
        if (TellsOfDisputes(plan))
          Append(RecordKind::kLoss, Digest(), store::EncodeLoss({.epoch = loss_epoch_ + 1}));
        for (const store::PutResult* put : plan.results) {
          Append(RecordKind::kObservationSet, put->weak_key, put->observation_set);
          places_[put->action_key] = Append(RecordKind::kResult, put->action_key, put->result);
        }
        if (root != nullptr)
          Append(RecordKind::kPublished, root->root, store::EncodePublished(*root));
        return absl::OkStatus();
      },
      .sync_log = [&] { return SyncLog(); },
      .lower_mark = [&] { return mark_.Lower(); },
      .index = [&]() -> absl::Status {
        Index(plan);
        return absl::OkStatus();
      }};
  return store::CommitInOrder(steps);
}

bool SimStore::TellsOfDisputes(const Plan& plan) {
  return !plan.disputes.empty() && !IsSabotaged(Sabotage::kHideDispute);
}

void SimStore::Index(const Plan& plan) {
  for (const auto& [digest, location] : plan.named) {
    blobs_[digest] = location;
    pending_.erase(digest);
  }
  if (TellsOfDisputes(plan)) ++loss_epoch_;
  for (const store::PutResult* put : plan.results) {
    Take(RecordKind::kObservationSet, put->weak_key, put->observation_set, {});
    results_[put->action_key] = put->result;
  }
}

absl::Status SimStore::Commit(const store::CommitBatch& batch) {
  if (!batch.results.empty() && commit_fails && commit_fails())
    return absl::ResourceExhaustedError("no space left on device");
  ASSIGN_OR_RETURN(const Plan plan, MakePlan(batch));
  if (batch.results.empty() && plan.named.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(Write(plan, nullptr));
  if (!plan.disputes.empty() && disputed) disputed();
  if (plan.conflicts.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError("another outcome is stored for action key" + plan.conflicts);
}

absl::StatusOr<uint64_t> SimStore::Publish(const store::PublishedRoot& root) {
  if (!LocationOf(root.root)) return absl::FailedPreconditionError("the root is not in the store");
  store::PublishedRoot published = root;
  published.sequence = 1;
  for (const store::PublishedRoot& other : roots_) {
    if (other.platform == root.platform)
      published.sequence = std::max(published.sequence, other.sequence + 1);
  }
  ASSIGN_OR_RETURN(const Plan plan, MakePlan({}));
  RETURN_IF_ERROR(Write(plan, &published));
  roots_.push_back(published);
  return published.sequence;
}

absl::StatusOr<std::vector<store::PublishedRoot>> SimStore::Roots(std::string_view /*project*/) {
  return std::vector<store::PublishedRoot>(roots_.rbegin(), roots_.rend());
}

absl::Status SimStore::Forget(std::span<const Digest> action_keys) {
  Append(RecordKind::kForgotten, Digest(), store::EncodeDigests(action_keys));
  RETURN_IF_ERROR(SyncLogAlone());
  for (const Digest& key : action_keys) results_.erase(key);
  return absl::OkStatus();
}

}  // namespace galley::simulation
