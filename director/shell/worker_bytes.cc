#include "director/shell/worker_bytes.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/read_pieces.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/programs.h"
#include "common/store/interface/named_blobs.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"
#include "director/shell/snapshot_tables.h"
#include "director/shell/told_tools.h"

namespace galley::director {
namespace {

constexpr uint32_t kExecutableBits = 0111;

// Nobody listens any more.
absl::Status GoneError() { return absl::CancelledError("the worker has hung up"); }

}  // namespace

// Pieces: the pieces of one item on their way to the worker.
class WorkerBytes::Pieces {
 public:
  Pieces(uint32_t item, const std::function<bool(const v1::FetchPiece&)>& send) : send_(send) {
    piece_.set_item(item);
  }

  // A piece that is held back goes with the end, so that a small file is one message.
  absl::Status Add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t size = std::min(bytes.size(), kPieceBytesMax);
      RETURN_IF_ERROR(Flush());
      piece_.set_bytes(bytes.data(), size);
      bytes.remove_prefix(size);
    }
    return absl::OkStatus();
  }
  absl::Status EndWith(const Digest& digest, bool is_left_out = false) {
    wire::ToProto(digest, piece_.mutable_digest());
    piece_.set_is_left_out(is_left_out);
    return End();
  }
  absl::Status EndAbsent() {
    piece_.set_is_absent(true);
    return End();
  }
  absl::Status EndFound(std::vector<v1::FoundThere> found) {
    piece_.mutable_found()->Add(found.begin(), found.end());
    return End();
  }
  void SetExecutable(bool is_executable) { piece_.set_is_executable(is_executable); }
  absl::Status End() {
    piece_.set_is_last(true);
    return send_(piece_) ? absl::OkStatus() : GoneError();
  }
  absl::Status Fail(const absl::Status& status) {
    piece_.clear_bytes();
    piece_.set_code(static_cast<uint32_t>(status.code()));
    piece_.set_error(MessageOf(status));
    return End();
  }

 private:
  absl::Status Flush() {
    if (piece_.bytes().empty()) return absl::OkStatus();
    if (!send_(piece_)) return GoneError();
    piece_.clear_bytes();
    return absl::OkStatus();
  }

  const std::function<bool(const v1::FetchPiece&)>& send_;
  v1::FetchPiece piece_;
};

absl::Status WorkerBytes::Fetch(const std::string& worker_id, const v1::FetchRequest& request,
                                const std::function<bool(const v1::FetchPiece&)>& send) const {
  if (request.items_size() > kItemsMax)
    return InvalidArgumentError("{} items, the limit is {}", request.items_size(), kItemsMax);
  for (int i = 0; i < request.items_size(); ++i) {
    Pieces pieces(static_cast<uint32_t>(i), send);
    const absl::Status sent = FetchOne(worker_id, request.items(i), pieces);
    if (absl::IsCancelled(sent)) return sent;
    if (!sent.ok()) RETURN_IF_ERROR(pieces.Fail(sent));
  }
  return absl::OkStatus();
}

absl::Status WorkerBytes::FetchOne(const std::string& worker_id, const v1::FetchItem& item,
                                   Pieces& pieces) const {
  if (item.what_case() == v1::FetchItem::kTable) return SendTable(item.table(), pieces);
  // The attempt may be over by now: then nobody waits for the bytes.
  if (!deps_.reports->IsOf(item.attempt(), worker_id))
    return PermissionDeniedError("attempt {} is not in the hands of {}", item.attempt(), worker_id);
  switch (item.what_case()) {
    case v1::FetchItem::kPath:
      return SendFile(item, pieces);
    case v1::FetchItem::kBlob: {
      ASSIGN_OR_RETURN(const Digest digest, wire::FromProto(item.blob()));
      const std::vector<GivenBlob> given = deps_.reports->GivenTo(item.attempt());
      const auto is_it = [&](const GivenBlob& one) { return one.digest == digest; };
      const auto found = std::ranges::find_if(given, is_it);
      if (found == given.end())
        return PermissionDeniedError("attempt {} was not given blob {}", item.attempt(),
                                     digest.ToString());
      return SendBlob(*found, pieces);
    }
    case v1::FetchItem::kTool:
      return SendTool(item, pieces);
    case v1::FetchItem::kLooks:
      return SendFound(item, pieces);
    case v1::FetchItem::kTable:
    case v1::FetchItem::WHAT_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("an item that names nothing");
}

absl::Status WorkerBytes::SendFile(const v1::FetchItem& item, Pieces& pieces) const {
  const SnapshotPtr snapshot = deps_.world->Get()->snapshot;
  std::optional<Digest> wanted;
  if (item.has_digest()) {
    ASSIGN_OR_RETURN(wanted, wire::FromProto(item.digest()));
  }
  const absl::Status usable = snapshot->CheckUsable(item.path());
  // The file was usable in the worker's snapshot, which is older than the present snapshot.
  if (!usable.ok()) return absl::AbortedError(MessageOf(usable));
  const content::FileEntry& entry = *snapshot->Find(item.path());
  const auto changed = [&] { return AbortedError("{} is another file by now", item.path()); };
  if (wanted.has_value() && entry.stat.size_bytes != wanted->size_bytes()) return changed();
  if (const auto known = snapshot->KnownDigest(item.path());
      wanted.has_value() && known.has_value() && *known != *wanted)
    return changed();
  if (entry.stat.size_bytes > item.bytes_max()) {
    ASSIGN_OR_RETURN(const Digest digest, snapshot->DigestOf(item.path(), &cancellation_));
    return pieces.EndWith(digest, /*is_left_out=*/true);
  }
  absl::Status sent;
  Cancellation broken;  // the rest need not be read
  const Cancellation::Hook on_cancel(&cancellation_, [&broken] { broken.Cancel(); });
  const absl::StatusOr<Digest> digest_or = snapshot->Stream(
      item.path(),
      [&](std::string_view bytes) {
        if (sent.ok()) sent = pieces.Add(bytes);
        if (!sent.ok()) broken.Cancel();
      },
      &broken);
  RETURN_IF_ERROR(sent);
  ASSIGN_OR_RETURN(const Digest digest, digest_or);
  if (wanted.has_value() && *wanted != digest) return changed();
  return pieces.EndWith(digest);
}

absl::Status WorkerBytes::SendBlob(const GivenBlob& blob, Pieces& pieces) const {
  if (blob.digest.size_bytes() <= kHeldBytesMax) {
    ASSIGN_OR_RETURN(const Blob bytes, Read(blob));
    RETURN_IF_ERROR(pieces.Add(*bytes));
    return pieces.EndWith(blob.digest);
  }
  ASSIGN_OR_RETURN(const auto reader, NewReader(blob));
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view bytes, reader->Next(kPieceBytesMax));
    if (bytes.empty()) return pieces.EndWith(blob.digest);
    RETURN_IF_ERROR(pieces.Add(bytes));
  }
}

absl::StatusOr<Blob> WorkerBytes::Read(const GivenBlob& blob) const {
  absl::StatusOr<Blob> bytes = deps_.store->Get(blob.digest);
  if (!absl::IsNotFound(bytes.status()) || !blob.reported_at.has_value()) return bytes;
  ASSIGN_OR_RETURN(const store::StoreInfo info, deps_.store->Info());
  return store::ReadBlobAt(info.directory, blob.digest, *blob.reported_at);
}

// A blob of that size is a file of its own.
absl::StatusOr<std::unique_ptr<store::BlobReader>> WorkerBytes::NewReader(
    const GivenBlob& blob) const {
  auto reader = deps_.store->NewReader(blob.digest, 0);
  if (!absl::IsNotFound(reader.status()) || !blob.reported_at.has_value()) return reader;
  ASSIGN_OR_RETURN(const store::StoreInfo info, deps_.store->Info());
  return store::NewBlobFileReader(info.directory, blob.digest, 0);
}

std::vector<std::string> WorkerBytes::ProgramsOf(const v1::FetchItem& item) const {
  std::vector<std::string> programs;
  for (const std::string& program : deps_.reports->ProgramsOf(item.attempt()))
    programs.push_back(content::NormalizeAsked(program).value_or(program));
  return programs;
}

absl::Status WorkerBytes::SendFound(const v1::FetchItem& item, Pieces& pieces) const {
  const std::vector<std::string> programs = ProgramsOf(item);
  if (programs.empty())
    return PermissionDeniedError("attempt {} starts no programs", item.attempt());
  if (item.looks().looks_size() > kLooksMax)
    return InvalidArgumentError("{} looks in an item, the limit is {}", item.looks().looks_size(),
                                kLooksMax);
  std::vector<v1::FoundThere> found;
  for (const v1::ProgramLook& look : item.looks().looks()) {
    ASSIGN_OR_RETURN(found.emplace_back(), Find(look, programs));
  }
  return pieces.EndFound(std::move(found));
}

// The worker has the table of the files in mounts. Other things in a mount's folder are reported
// with neither bytes nor names.
absl::StatusOr<v1::FoundThere> WorkerBytes::Find(const v1::ProgramLook& look,
                                                 const std::vector<std::string>& programs) const {
  v1::FoundThere found;
  const WorldPtr world = deps_.world->Get();
  const std::vector<content::Mount>& mounts = world->snapshot->mounts();
  const std::string normal = content::NormalizeAsked(look.path()).value_or("");
  const bool is_in_mount = std::ranges::any_of(mounts, [&](const content::Mount& mount) {
    return normal == mount.directory || normal.starts_with(mount.directory + "/");
  });
  if (normal != look.path() || (!is_in_mount && !MayBeTold(normal, programs))) return found;
  const std::string host_path = AbsolutePath(normal, world->project->root);
  const absl::StatusOr<FileStat> stat = StatFile(host_path);
  if (absl::IsNotFound(stat.status())) {
    found.set_kind(v1::FoundThere::ABSENT);
    return found;
  }
  if (!stat.ok()) return found;
  found.set_kind(S_ISREG(stat->mode)   ? v1::FoundThere::FILE
                 : S_ISDIR(stat->mode) ? v1::FoundThere::FOLDER
                                       : v1::FoundThere::OTHER);
  if (!look.is_opened()) return found;
  if (S_ISDIR(stat->mode)) {
    const absl::StatusOr<Digest> names = DigestOfNames(host_path);
    if (!names.ok()) return v1::FoundThere();
    wire::ToProto(*names, found.mutable_digest());
  } else if (S_ISREG(stat->mode) && !is_in_mount) {
    const absl::StatusOr<std::string> value = deps_.sources()->Look(
        {.kind = record::ObservationKind::kTool, .subject = normal, .detail = ""}, "");
    if (!value.ok() || *value == record::kAbsent) return v1::FoundThere();
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(*value));
    wire::ToProto(digest, found.mutable_digest());
  }
  return found;
}

absl::Status WorkerBytes::SendTool(const v1::FetchItem& item, Pieces& pieces) const {
  const std::vector<std::string> programs = ProgramsOf(item);
  if (programs.empty() || !MayBeTold(item.tool(), programs))
    return PermissionDeniedError("workers on other machines are not told of {}", item.tool());
  ASSIGN_OR_RETURN(
      const std::string value,
      deps_.sources()->Look(
          {.kind = record::ObservationKind::kTool, .subject = item.tool(), .detail = ""}, ""));
  if (value == record::kAbsent) return pieces.EndAbsent();
  ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(value));
  const std::string host_path = AbsolutePath(item.tool(), deps_.world->Get()->project->root);
  if (const absl::StatusOr<FileStat> stat = StatFile(host_path); stat.ok())
    pieces.SetExecutable((stat->mode & kExecutableBits) != 0);
  if (!item.has_digest()) return pieces.EndWith(digest, /*is_left_out=*/true);
  if (item.tool().starts_with('/') || std::ranges::find(programs, item.tool()) == programs.end())
    return PermissionDeniedError("{} is not the program of this attempt's recipe", item.tool());
  // A recipe of a generated package comes from a worker: the recipe names no secret.
  const std::string real_path = RealPath(host_path);
  const std::string real_root = RealPath(deps_.world->Get()->project->root) + "/";
  if (!real_path.starts_with(real_root) || !IsPlainPath(real_path.substr(real_root.size())))
    return PermissionDeniedError(
        "{} is hidden, or lies outside of the project: it is not given to other machines",
        item.tool());
  ASSIGN_OR_RETURN(const Digest wanted, wire::FromProto(item.digest()));
  return SendProgram(host_path, wanted, pieces);
}

absl::Status WorkerBytes::SendProgram(const std::string& host_path, const Digest& wanted,
                                      Pieces& pieces) const {
  DigestBuilder hash;
  RETURN_IF_ERROR(ReadInPieces(host_path, [&](std::string_view bytes) {
    hash.Add(bytes);
    return pieces.Add(bytes);
  }));
  const Digest digest = hash.Finish();
  if (digest != wanted) return AbortedError("{} is another file by now", host_path);
  return pieces.EndWith(digest);
}

absl::Status WorkerBytes::SendTable(const std::string& name, Pieces& pieces) const {
  if (!IsSnapshotTableName(name)) return InvalidArgumentError("\"{}\" is no table's name", name);
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(JoinPath(deps_.state_directory, name)));
  RETURN_IF_ERROR(pieces.Add(bytes));
  return pieces.End();
}

// Counted: a blob that the ledger counts, and that is given back if it does not come whole.
class WorkerBytes::Counted {
 public:
  Counted(UploadLedger& ledger, const std::string& worker) : ledger_(ledger), worker_(worker) {}
  ~Counted() {
    if (digest_.has_value()) ledger_.GiveBack(worker_, *digest_);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  absl::Status Take(const Digest& digest) {
    ASSIGN_OR_RETURN(const bool is_new, ledger_.Take(worker_, digest));
    if (is_new) digest_ = digest;
    return absl::OkStatus();
  }
  void Keep() { digest_.reset(); }

 private:
  UploadLedger& ledger_;
  const std::string& worker_;
  std::optional<Digest> digest_;
};

void WorkerBytes::NoteGiven(const std::string& worker_id, AttemptId attempt) {
  ledger_.Begin(worker_id, attempt);
}

void WorkerBytes::EndUploadsUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known) {
  ledger_.EndUnless(is_known);
}

void WorkerBytes::NoteReport(const std::string& worker_id, const WorkerReport& report,
                             const ResultTable& results) {
  if (std::holds_alternative<WorkerReport::Ended>(report.what))
    return ledger_.End(worker_id, report.attempt);
  if (ledger_.IsClean(worker_id)) return;
  std::vector<Digest> named;
  if (const auto* loaded = std::get_if<WorkerReport::Loaded>(&report.what)) {
    for (const record::Generated& one : loaded->so_far->generated) named.push_back(one.source);
  } else if (const auto* saved = std::get_if<WorkerReport::Saved>(&report.what)) {
    const StoredResultPtr stored = results.Get(saved->result->id);
    if (stored != nullptr) store::AppendNamedBlobs(stored->result, named);
  }
  ledger_.Name(worker_id, named);
}

void WorkerBytes::ForgetUploads() {
  ledger_.ForgetUnless(
      [this](std::string_view worker) { return deps_.reports->HasAttempts(worker); });
}

absl::StatusOr<v1::FindMissingAnswer> WorkerBytes::FindMissing(
    const v1::FindMissingRequest& request) const {
  if (request.digests_size() > kDigestsMax)
    return InvalidArgumentError("{} digests in a call, more than {}", request.digests_size(),
                                kDigestsMax);
  std::vector<Digest> digests;
  for (const v1::Digest& wire : request.digests()) {
    ASSIGN_OR_RETURN(digests.emplace_back(), wire::FromProto(wire));
  }
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, deps_.store->FindMissing(digests));
  v1::FindMissingAnswer answer;
  for (const Digest& digest : missing) wire::ToProto(digest, answer.add_missing());
  return answer;
}

absl::StatusOr<uint64_t> WorkerBytes::Upload(const std::string& worker_id,
                                             const std::function<bool(v1::UploadPiece&)>& next) {
  if (!deps_.reports->HasAttempts(worker_id))
    return PermissionDeniedError(
        "{} has no job of a cook that runs: nothing that it brings is taken", worker_id);
  Counted counted(ledger_, worker_id);
  v1::UploadPiece piece;
  std::optional<Digest> digest;  // of the present blob
  std::unique_ptr<store::BlobWriter> writer;
  std::string held;
  bool is_there = false;
  uint64_t stored = 0;
  const auto finish = [&]() -> absl::Status {
    if (!digest.has_value() || is_there) return absl::OkStatus();
    stored += digest->size_bytes();
    RETURN_IF_ERROR(writer != nullptr ? writer->Finish() : deps_.store->Put(*digest, held));
    counted.Keep();
    return absl::OkStatus();
  };
  while (next(piece)) {
    if (piece.has_digest()) {
      RETURN_IF_ERROR(finish());
      ASSIGN_OR_RETURN(digest, wire::FromProto(piece.digest()));
      ASSIGN_OR_RETURN(const auto missing, deps_.store->FindMissing(std::span(&*digest, 1)));
      is_there = missing.empty();
      if (!is_there) RETURN_IF_ERROR(counted.Take(*digest));
      held.clear();
      writer.reset();
      if (!is_there && digest->size_bytes() > kHeldBytesMax) {
        ASSIGN_OR_RETURN(writer, deps_.store->NewWriter(*digest));
      }
    }
    if (!digest.has_value()) return absl::InvalidArgumentError("bytes of no blob");
    if (!is_there && writer != nullptr) {
      RETURN_IF_ERROR(writer->Append(piece.bytes()));
    } else if (!is_there) {
      if (held.size() + piece.bytes().size() > digest->size_bytes())
        return InvalidArgumentError("more bytes than blob {} has", digest->ToString());
      held += piece.bytes();
    }
    piece.Clear();
  }
  RETURN_IF_ERROR(finish());
  return stored;
}

}  // namespace galley::director
