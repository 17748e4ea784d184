#include "worker/executor/snapshot_inputs.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "common/content/name.h"
#include "worker/cookers/cooker.h"
#include "worker/cookers/out_of_memory.h"

namespace galley::worker {
namespace {

using record::ObservationKind;

Look ValueOnly(std::string_view value) {
  return {.value = std::string(value), .bytes = nullptr, .host_path = ""};
}

std::string_view KindValue(content::EntryKind kind) {
  switch (kind) {
    case content::EntryKind::kAbsent:
      return record::kAbsent;
    case content::EntryKind::kFile:
      return record::kIsFile;
    case content::EntryKind::kFolder:
      return record::kFolder;
  }
  return record::kAbsent;
}

}  // namespace

SnapshotInputs::SnapshotInputs(SnapshotInputsOptions options)
    : options_(std::move(options)), scratch_(options_.scratch_directory) {
  if (options_.lazy_view != nullptr) options_.lazy_view->BeginJob(options_.bytes);
  if (options_.far_tools != nullptr) options_.far_tools->BeginJob();
}

SnapshotInputs::~SnapshotInputs() {
  if (options_.lazy_view != nullptr) options_.lazy_view->EndJob();
}

ChildWatch* SnapshotInputs::Watch() {
  if (options_.lazy_view == nullptr) return nullptr;
  if (watch_.has_value()) return &*watch_;
  // A cooker that watches a program has a scratch folder, in which the program runs.
  watched_ = RealPath(scratch_.Directory().value_or(options_.scratch_directory));
  return &watch_.emplace(WatchedProgram{
      .folder = options_.lazy_view, .own = watched_, .tools = options_.far_tools->directory()});
}

// On a machine without the project, the mounts' folders are not at their places, and have no walls.
absl::StatusOr<const ChildWalls*> SnapshotInputs::Walls() {
  if (options_.walls == nullptr) return nullptr;
  std::vector<std::string> content;
  if (options_.lazy_view == nullptr) {
    for (const content::Mount& mount : options_.snapshot->mounts())
      content.push_back(mount.directory);
  }
  return options_.walls->Around(content);
}

absl::Status SnapshotInputs::FromSnapshot(const absl::Status& status,
                                          const std::string& path) const {
  if (absl::IsAborted(status) && !InterruptionOf(status).has_value())
    return InterruptedBy(StaleFile{path});
  return status;
}

absl::Status SnapshotInputs::CheckSize(const std::string& path) const {
  const content::FileEntry* entry = options_.snapshot->Find(path);
  if (entry == nullptr || entry->stat.size_bytes <= options_.read_bytes_max)
    return absl::OkStatus();
  return OutOfMemoryError(
      "{} has {} bytes, more than the job's memory limit of {}, and its cooker holds all of it (a "
      "rule's memory sets the limit)",
      path, entry->stat.size_bytes, options_.read_bytes_max);
}

absl::StatusOr<SourceContent> SnapshotInputs::Source(uint64_t bytes_max) {
  if (options_.generated_source.has_value()) {
    ASSIGN_OR_RETURN(Blob bytes, ReadBlob(*options_.generated_source));
    return SourceContent{.bytes = std::move(bytes), .digest = *options_.generated_source};
  }
  const content::FileEntry* entry = options_.snapshot->Find(options_.package);
  if (entry != nullptr && entry->stat.size_bytes > bytes_max) {
    const absl::StatusOr<Digest> digest = options_.bytes->DigestOf(options_.package);
    if (!digest.ok()) return FromSnapshot(digest.status(), options_.package);
    source_ = *digest;
    return SourceContent{.bytes = nullptr, .digest = *digest};
  }
  RETURN_IF_ERROR(CheckSize(options_.package));
  auto content = options_.bytes->Read(options_.package, options_.read_bytes_max);
  if (content.status().code() == absl::StatusCode::kNotFound)
    return InterruptedBy(StaleFile{options_.package});
  if (!content.ok()) return FromSnapshot(content.status(), options_.package);
  bytes_loaded_.cold += content->bytes->size();
  source_ = content->digest;
  return SourceContent{.bytes = std::move(content->bytes), .digest = content->digest};
}

absl::Status SnapshotInputs::StreamSource(const TakePiece& take) {
  if (options_.generated_source.has_value()) {
    ASSIGN_OR_RETURN(const Blob bytes, ReadBlob(*options_.generated_source));
    return take(*bytes);
  }
  const absl::StatusOr<Digest> digest = options_.bytes->Stream(options_.package, take);
  if (!digest.ok()) return FromSnapshot(digest.status(), options_.package);
  bytes_loaded_.cold += digest->size_bytes();
  return *digest == source_ ? absl::OkStatus() : InterruptedBy(StaleFile{options_.package});
}

absl::Status SnapshotInputs::CheckUnchanged(
    const std::map<record::Observation, std::string>& observed) {
  if (watch_.has_value()) {
    RETURN_IF_ERROR(watch_->trouble());
    RETURN_IF_ERROR(options_.far_tools->Compare(watch_->looks(), watched_, *options_.lazy_view,
                                                *options_.fetched));
  }
  RETURN_IF_ERROR(CheckSource());
  for (const auto& [what, value] : observed) {
    if (what.kind != ObservationKind::kTool) continue;
    ASSIGN_OR_RETURN(const Look look, Tool(what.subject));
    if (look.value != value)
      return UnavailableError("{} changed while the job ran", what.ToString());
  }
  return absl::OkStatus();
}

// Programs read the source at its place, through the mounts; a generated source is a copy in the
// job's own folder.
absl::Status SnapshotInputs::CheckSource() {
  if (options_.generated_source.has_value() || !source_.has_value()) return absl::OkStatus();
  return FromSnapshot(options_.bytes->CheckUnchanged(options_.package, *source_), options_.package);
}

absl::StatusOr<Look> SnapshotInputs::Observe(uint32_t platform, const record::Observation& what,
                                             Want want) {
  switch (what.kind) {
    case ObservationKind::kPlatform:
      return Platform(platform, what.subject);
    case ObservationKind::kTool:
      return Tool(what.subject);
    case ObservationKind::kName:
      return ValueOnly(options_.package);
    case ObservationKind::kEnv: {
      if (options_.environment == nullptr) return ValueOnly(record::kUnset);
      const auto found = options_.environment->find(what.subject);
      return ValueOnly(found == options_.environment->end() ? std::string(record::kUnset)
                                                            : record::SetValue(found->second));
    }
    case ObservationKind::kFile:
    case ObservationKind::kExists:
    case ObservationKind::kList:
    case ObservationKind::kGlob:
    case ObservationKind::kCooked:
      break;
  }
  if (what.kind == ObservationKind::kCooked &&
      what.subject.starts_with("_gen/")) {  // generated by this package
    return Cooked(options_.package + "/" + what.subject, what.detail, platform, want);
  }
  const absl::StatusOr<std::string> resolved =
      content::ResolveAsked(options_.package, what.subject);
  // A relative path that climbs above "/" shows nothing. It is no error, because it depends on the
  // place of the package, which is not in the key.
  if (!resolved.ok())
    return ValueOnly(what.kind == ObservationKind::kGlob ? std::string_view() : record::kAbsent);
  const std::string& path = *resolved;
  switch (what.kind) {
    case ObservationKind::kFile:
      return File(path, want);
    case ObservationKind::kExists:
      return ValueOnly(KindValue(options_.snapshot->Kind(path)));
    case ObservationKind::kList:
      return List(path);
    case ObservationKind::kGlob:
      return Glob(path, what.detail);
    default:
      return Cooked(path, what.detail, platform, want);
  }
}

absl::StatusOr<Look> SnapshotInputs::File(const std::string& path, Want want) {
  const content::EntryKind kind = options_.snapshot->Kind(path);
  if (kind == content::EntryKind::kAbsent) return ValueOnly(record::kAbsent);
  if (kind == content::EntryKind::kFolder) return ValueOnly(record::kFolder);
  if (want == Want::kValue) {
    const absl::StatusOr<Digest> digest = options_.bytes->DigestOf(path);
    if (!digest.ok()) return FromSnapshot(digest.status(), path);
    return ValueOnly(digest->ToString());
  }
  if (want == Want::kChecked && options_.snapshot->Find(path)->stat.size_bytes > kHeldBytesMax) {
    const absl::StatusOr<Digest> digest =
        options_.bytes->Stream(path, [](std::string_view) { return absl::OkStatus(); });
    if (!digest.ok()) return FromSnapshot(digest.status(), path);
    bytes_loaded_.cold += digest->size_bytes();
    return ValueOnly(digest->ToString());
  }
  RETURN_IF_ERROR(CheckSize(path));
  if (const std::optional<Digest> known = options_.snapshot->KnownDigest(path)) {
    if (Blob warm = FindWarm(*known))
      return Look{.value = known->ToString(), .bytes = std::move(warm), .host_path = ""};
  }
  auto content = options_.bytes->Read(path, options_.read_bytes_max);
  if (!content.ok()) return FromSnapshot(content.status(), path);
  bytes_loaded_.cold += content->bytes->size();
  KeepWarm(content->digest, content->bytes);
  return Look{
      .value = content->digest.ToString(), .bytes = std::move(content->bytes), .host_path = ""};
}

absl::StatusOr<Look> SnapshotInputs::List(const std::string& folder) const {
  const auto names = options_.snapshot->List(folder);
  return ValueOnly(names.has_value() ? record::LinesValue(*names) : std::string(record::kAbsent));
}

absl::StatusOr<Look> SnapshotInputs::Glob(const std::string& root,
                                          const std::string& pattern) const {
  ASSIGN_OR_RETURN(const content::Glob glob, content::Glob::Parse(pattern));
  return ValueOnly(record::LinesValue(options_.snapshot->Matches(root, glob)));
}

absl::StatusOr<Look> SnapshotInputs::Cooked(const std::string& package, const std::string& suffix,
                                            uint32_t platform, Want want) {
  const auto given = options_.cooked.find({package, platform});
  if (given == options_.cooked.end()) return InterruptedBy(NeedsPackage{package});
  const auto output = given->second.find(suffix);
  if (output == given->second.end()) return ValueOnly(record::kAbsent);
  Look look = ValueOnly(output->second.ToString());
  if (want != Want::kValue) {
    ASSIGN_OR_RETURN(look.bytes, ReadWarmBlob(output->second));
  }
  return look;
}

absl::StatusOr<Look> SnapshotInputs::Platform(uint32_t platform,
                                              const std::string& parameter) const {
  if (platform >= options_.platforms->size()) {
    return InternalError("the director named no platform {}", platform);
  }
  const PlatformInfo& info = (*options_.platforms)[platform];
  if (parameter == "name") return ValueOnly(record::SetValue(info.name));
  const auto value = info.parameters.find(parameter);
  return ValueOnly(value == info.parameters.end() ? std::string(record::kUnset)
                                                  : record::SetValue(value->second));
}

absl::StatusOr<Look> SnapshotInputs::Tool(const std::string& path) {
  if (options_.far_tools != nullptr)
    return options_.far_tools->Find(path, *options_.snapshot, *options_.lazy_view,
                                    *options_.fetched);
  const std::string host_path =
      path.starts_with('/') ? path : JoinPath(options_.project_root, path);
  const absl::StatusOr<Digest> digest = options_.tools->DigestOf(host_path);
  if (digest.status().code() == absl::StatusCode::kNotFound) return ValueOnly(record::kAbsent);
  if (!digest.ok()) return digest.status();
  return Look{.value = digest->ToString(), .bytes = nullptr, .host_path = host_path};
}

// nullptr: the file is not warm.
Blob SnapshotInputs::FindWarm(const Digest& digest) {
  if (options_.warm_files == nullptr) return nullptr;
  Blob bytes = options_.warm_files->Find(digest);
  if (bytes != nullptr) bytes_loaded_.warm += bytes->size();
  return bytes;
}

void SnapshotInputs::KeepWarm(const Digest& digest, const Blob& bytes) {
  if (options_.warm_files != nullptr) options_.warm_files->Keep(digest, bytes);
}

absl::StatusOr<Blob> SnapshotInputs::ReadBlob(const Digest& digest) {
  if (digest.size_bytes() == 0) return MakeBlob("");
  ASSIGN_OR_RETURN(Blob bytes, options_.bytes->ReadBlob(digest));
  bytes_loaded_.cold += bytes->size();
  return bytes;
}

absl::StatusOr<Blob> SnapshotInputs::ReadWarmBlob(const Digest& digest) {
  Blob bytes = FindWarm(digest);
  if (bytes != nullptr) return bytes;
  ASSIGN_OR_RETURN(bytes, ReadBlob(digest));
  KeepWarm(digest, bytes);
  return bytes;
}

absl::Status SnapshotInputs::StreamCooked(uint32_t platform, const record::Observation& what,
                                          const TakePiece& take) {
  ASSIGN_OR_RETURN(const Look look, Observe(platform, what, Want::kValue));
  ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(look.value));
  return StreamBlob(digest, take);
}

// Large blobs are files.
absl::Status SnapshotInputs::StreamBlob(const Digest& digest, const TakePiece& take) {
  if (digest.size_bytes() <= kHeldBytesMax) {
    ASSIGN_OR_RETURN(const Blob bytes, ReadWarmBlob(digest));
    return take(*bytes);
  }
  RETURN_IF_ERROR(options_.bytes->StreamBlob(digest, take));
  bytes_loaded_.cold += digest.size_bytes();
  return absl::OkStatus();
}

absl::Status SnapshotInputs::ShowUnder(const std::string& directory) {
  if (options_.lazy_view == nullptr) return options_.view->ShowUnder(directory);
  RETURN_IF_ERROR(options_.lazy_view->ShowUnder(directory));
  if (!options_.generated_source.has_value()) return absl::OkStatus();
  return options_.lazy_view->FillFoldersOf(options_.package);
}

absl::Status SnapshotInputs::ShowMounts(const std::string& directory) {
  RETURN_IF_ERROR(ShowUnder(directory));
  if (!options_.generated_source.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Blob bytes, ReadBlob(*options_.generated_source));
  return MountView::PutFile(directory, options_.package, *bytes);
}

}  // namespace galley::worker
