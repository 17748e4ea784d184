#include "director/stage/ownership.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/real_path.h"
#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "director/stage/apply_names.h"
#include "director/stage/ledger.h"
#include "director/stage/repository.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kOwnerKind = "galley-sandbox";
constexpr std::string_view kClaimsKind = "galley-sandboxes";
constexpr std::string_view kClaimsName = "sandboxes";
constexpr int kVersion = 1;
constexpr uint64_t kOwnerBytesMax = 64 << 10;
constexpr uint64_t kClaimsBytesMax = 4 << 20;
// Beyond this the oldest claims are dropped: `.galley-sandbox` still names their owner.
constexpr size_t kClaimsMax = 256;
constexpr size_t kNamesToldMax = 4;
constexpr size_t kFolderDepthMax = 256;
constexpr std::string_view kOwnFolder = ".galley/";

// Returns the place of a sandbox, seen from its project: relative to the project's folder if it
// lies below that folder.
std::string PlaceOf(const std::string& directory, const std::string& project_folder) {
  std::string real = RealPath(directory);
  const std::string below = project_folder + "/";
  return real.starts_with(below) ? real.substr(below.size()) : real;
}

struct OwnerFile {
  SandboxOwner owner;
  std::string place;
};

std::string OwnerText(const SandboxOwner& owner, const std::string& place) {
  return Seal(kOwnerKind, kVersion,
              {{"project", owner.project_id},
               {"name", owner.project_name},
               {"folder", owner.project_folder},
               {"place", place},
               {"platform", owner.platform}});
}

// nullopt: there is no whole owner file.
absl::StatusOr<std::optional<OwnerFile>> ReadOwner(Sandbox& sandbox) {
  const absl::StatusOr<std::optional<std::string>> text = sandbox.Read(kOwnerName, kOwnerBytesMax);
  if (absl::IsResourceExhausted(text.status()) || absl::IsPermissionDenied(text.status()))
    return std::nullopt;
  RETURN_IF_ERROR(text.status());
  if (!text->has_value()) return std::nullopt;
  const auto lines = Unseal(kOwnerKind, kVersion, **text);
  if (absl::IsFailedPrecondition(lines.status()))  // written by a newer Galley
    return Annotate(lines.status(), sandbox.Full(kOwnerName));
  if (!lines.ok()) {
    LogWarning("stage: {} is not used: {}", sandbox.Full(kOwnerName), MessageOf(lines.status()));
    return std::nullopt;
  }
  const auto value = [&](std::string_view key) { return std::string(ValueOf(*lines, key)); };
  return OwnerFile{.owner = {.project_id = value("project"),
                             .project_name = value("name"),
                             .project_folder = value("folder"),
                             .platform = value("platform")},
                   .place = value("place")};
}

// Without the id (the state was deleted, or is a copy's) the place must match: the same place in
// the project, or as seen from anywhere. Another project may now be where the named project was, so
// the names must be equal if both projects have a name; `.galley` holds only what belongs to its
// own project.
bool IsOf(const OwnerFile& file, const SandboxOwner& owner, const std::string& directory) {
  if (!owner.project_id.empty() && file.owner.project_id == owner.project_id) return true;
  const bool has_moved_along =
      !file.place.starts_with('/') && file.place == PlaceOf(directory, owner.project_folder);
  if (has_moved_along && file.place.starts_with(kOwnFolder)) return true;
  const bool may_be_named_so = file.owner.project_name == owner.project_name ||
                               file.owner.project_name.empty() || owner.project_name.empty();
  return may_be_named_so && (has_moved_along || file.owner.project_folder == owner.project_folder);
}

// Returns one line of the state's file: "<device> <inode> <birth> <platform> <path>". Without the
// time of birth a new folder could pass for the old folder, because inodes are used again.
absl::StatusOr<SealedLine> ClaimOf(const std::string& directory, const SandboxOwner& owner) {
  struct statx stat {};
  if (::statx(AT_FDCWD, directory.c_str(), 0, STATX_INO | STATX_BTIME, &stat) != 0)
    return ErrnoStatus(errno, "stat", directory);
  const bool has_birth = (stat.stx_mask & STATX_BTIME) != 0;
  return SealedLine{
      "sandbox",
      fmt::format("{}:{} {} {}.{} {} {}", stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino,
                  has_birth ? stat.stx_btime.tv_sec : 0, has_birth ? stat.stx_btime.tv_nsec : 0,
                  owner.platform, PlaceOf(directory, owner.project_folder))};
}

// A state's file that is absent or damaged claims nothing: each sandbox names its owner itself.
absl::StatusOr<std::vector<SealedLine>> ReadClaims(const std::string& file) {
  const absl::StatusOr<std::string> text = ReadFile(file, kClaimsBytesMax);
  if (absl::IsNotFound(text.status())) return std::vector<SealedLine>();
  RETURN_IF_ERROR(text.status());
  return Unseal(kClaimsKind, kVersion, *text);
}

absl::StatusOr<bool> IsClaimed(const std::string& directory, const SandboxOwner& owner,
                               const std::string& state_directory) {
  ASSIGN_OR_RETURN(const SealedLine wanted, ClaimOf(directory, owner));
  const auto claims = ReadClaims(JoinPath(state_directory, kClaimsName));
  return claims.ok() && std::ranges::find(*claims, wanted) != claims->end();
}

absl::Status Claim(const std::string& directory, const SandboxOwner& owner,
                   const std::string& state_directory) {
  ASSIGN_OR_RETURN(const SealedLine claim, ClaimOf(directory, owner));
  const std::string place = PlaceOf(directory, owner.project_folder);
  const std::string file = JoinPath(state_directory, kClaimsName);
  RETURN_IF_ERROR(EnsureWritableFile(file));
  absl::StatusOr<std::vector<SealedLine>> read = ReadClaims(file);
  if (!read.ok()) {
    const absl::StatusOr<std::string> aside = PutAside(file);
    NoteRepair(fmt::format("{}: {}; {}it was made anew: each sandbox says itself whose it is", file,
                           MessageOf(read.status()),
                           aside.ok() ? fmt::format("it was moved aside to {}, ", *aside) : ""));
    read = std::vector<SealedLine>();
  }
  std::vector<SealedLine>& claims = *read;
  if (std::ranges::find(claims, claim) != claims.end()) return absl::OkStatus();
  // Another folder was at this place.
  std::erase_if(claims, [&](const SealedLine& one) { return one.value.ends_with(" " + place); });
  claims.push_back(claim);
  if (claims.size() > kClaimsMax) claims.erase(claims.begin());
  return WriteFileAtomic(file, Seal(kClaimsKind, kVersion, claims));
}

bool HoldsNothing(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) {
    return Sandbox::IsTemporary(name) || IsStagingsOwn(name);
  });
}

// Says whether nothing in the folder is Galley's: it is empty, or it is being adopted.
absl::StatusOr<bool> IsNew(Sandbox& sandbox, const std::string& directory,
                           const SandboxOwner& owner, const std::string& state_directory) {
  ASSIGN_OR_RETURN(const std::optional<BriefLedger> brief, ReadBriefLedger(sandbox));
  if (brief.has_value()) return false;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox.Names(""));
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(sandbox));
  if (!ledger.roots.empty()) return false;
  if (HoldsNothing(names)) return true;
  ASSIGN_OR_RETURN(const std::optional<OwnerFile> file, ReadOwner(sandbox));
  if (file) return false;
  ASSIGN_OR_RETURN(const bool is_claimed, IsClaimed(directory, owner, state_directory));
  return !is_claimed;
}

absl::Status IsForeign(const std::string& directory, const std::vector<std::string>& names) {
  std::string told;
  for (size_t i = 0; i < std::min(names.size(), kNamesToldMax); ++i)
    told += (i == 0 ? "" : ", ") + EscapeControl(names[i]);
  if (names.size() > kNamesToldMax)
    told += fmt::format(" and {} more", names.size() - kNamesToldMax);
  return FailedPreconditionError(
      "{} is a folder that Galley did not make: it holds {}; nothing was done. Give an "
      "empty folder "
      "with --out or [output] dir, or pass --adopt: then the folder becomes the "
      "sandbox, and what is "
      "there stays",
      EscapeControl(directory), told);
}

absl::Status IsOfAnother(const std::string& directory, const OwnerFile& file) {
  return FailedPreconditionError(
      "{} is the sandbox of another project, {}in {}, whose files would be replaced; nothing was "
      "done. Give another folder with --out or [output] dir; or, if that project is gone or stages "
      "there no more, pass --adopt",
      EscapeControl(directory),
      file.owner.project_name.empty() ? "" : EscapeControl(file.owner.project_name) + " ",
      EscapeControl(file.owner.project_folder));
}

// Empty: there is no repository. `known`, sorted: Galley's files.
absl::StatusOr<std::string> FindRepository(Sandbox& sandbox, const std::vector<std::string>& known,
                                           const std::string& folder, size_t depth) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox.Names(folder));
  const auto path_of = [&](std::string_view name) {
    return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
  };
  ASSIGN_OR_RETURN(const bool is_bare, IsBareRepository(sandbox, folder, names));
  if (is_bare && !std::binary_search(known.begin(), known.end(), path_of(kBareRepositoryFile)))
    return folder.empty() ? "." : folder;
  for (const std::string& name : names) {
    const std::string path = path_of(name);
    if (IsRepositoryName(name)) return path;
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(path));
    if (node.kind != NodeKind::kFolder || depth == kFolderDepthMax) continue;
    ASSIGN_OR_RETURN(std::string found, FindRepository(sandbox, known, path, depth + 1));
    if (!found.empty()) return found;
  }
  return std::string();
}

absl::Status CheckApart(const std::string& directory, const std::vector<std::string>& folders) {
  const std::string real = RealPath(directory);
  for (const std::string& folder : folders) {
    if (folder != real && !folder.starts_with(real == "/" ? real : real + "/")) continue;
    return FailedPreconditionError(
        "{} cannot be a sandbox, because {}; nothing was done. Give another folder with --out or "
        "[output] dir",
        EscapeControl(directory),
        folder == real ? "the project, its store or a mount is this very folder"
                       : fmt::format("{} of this project is in it", EscapeControl(folder)));
  }
  return absl::OkStatus();
}

absl::Status CheckRepository(Sandbox& sandbox) {
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(sandbox));
  ASSIGN_OR_RETURN(const std::string repository, FindRepository(sandbox, ledger.files, "", 0));
  if (repository.empty()) return absl::OkStatus();
  return FailedPreconditionError(
      "--exact would remove {}, which is of a version control system; nothing was done. "
      "Move it away, or cook without --exact",
      EscapeControl(sandbox.Full(repository == "." ? "" : repository)));
}

// Checks a folder that is absent: a dangling link, there or above it, would be in the way when the
// folder is made.
absl::Status CheckLinks(const std::string& directory) {
  std::string path = directory;
  while (path.size() > 1 && absl::IsNotFound(StatFile(path).status())) {
    const absl::StatusOr<FileStat> link = StatFile(path, /*follow_links=*/false);
    if (link.ok() && S_ISLNK(link->mode)) {
      std::string target(PATH_MAX, '\0');
      const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
      target.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
      return FailedPreconditionError(
          "{} is a link to {}, which is not there; nothing was done. Make that folder, "
          "remove the link, or give another folder with --out or [output] dir",
          EscapeControl(path), EscapeControl(target));
    }
    path.resize(std::max<size_t>(1, path.rfind('/')));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSandbox(const std::string& directory, const SandboxOwner& owner,
                          const std::string& state_directory, const SandboxRules& rules) {
  RETURN_IF_ERROR(CheckApart(directory, rules.apart_from));
  const absl::StatusOr<FileStat> stat = StatFile(directory);
  if (absl::IsNotFound(stat.status())) return CheckLinks(directory);
  if (absl::IsFailedPrecondition(stat.status())) {
    return FailedPreconditionError(
        "{} cannot be a folder, because what is above it is none ({}); nothing was done. Give "
        "another folder with --out or [output] dir",
        EscapeControl(directory), MessageOf(stat.status()));
  }
  RETURN_IF_ERROR(stat.status());
  if (!S_ISDIR(stat->mode)) {
    return FailedPreconditionError(
        "{} is no folder, so nothing can be staged there; nothing was done. Give "
        "another folder with --out or [output] dir, or move it away",
        EscapeControl(directory));
  }
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  ASSIGN_OR_RETURN(std::vector<std::string> names, sandbox.Names(""));
  std::erase_if(names, [](const std::string& name) { return Sandbox::IsTemporary(name); });
  if (names.empty()) return absl::OkStatus();
  if (rules.exact) RETURN_IF_ERROR(CheckRepository(sandbox));
  if (rules.adopt) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<OwnerFile> file, ReadOwner(sandbox));
  if (file) return IsOf(*file, owner, directory) ? absl::OkStatus() : IsOfAnother(directory, *file);
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(sandbox));
  if (!ledger.roots.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_claimed, IsClaimed(directory, owner, state_directory));
  if (is_claimed || HoldsNothing(names)) return absl::OkStatus();
  return IsForeign(directory, names);
}

absl::Status CheckWritable(const std::string& directory) {
  std::string path = directory;
  absl::StatusOr<FileStat> stat = StatFile(path);
  while (absl::IsNotFound(stat.status()) && path.size() > 1) {
    path.resize(std::max<size_t>(1, path.rfind('/')));
    stat = StatFile(path);
  }
  RETURN_IF_ERROR(stat.status());
  if (!S_ISDIR(stat->mode)) return ErrnoStatus(ENOTDIR, "create folder", directory);
  if (::access(path.c_str(), W_OK | X_OK) != 0) return ErrnoStatus(errno, "write to", path);
  return absl::OkStatus();
}

absl::Status ClaimSandbox(const std::string& directory, const SandboxOwner& owner,
                          const std::string& state_directory) {
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  ASSIGN_OR_RETURN(const bool is_new, IsNew(sandbox, directory, owner, state_directory));
  // Written before anything else, so that no crash makes other people's files look like Galley's.
  if (is_new) RETURN_IF_ERROR(BeginStaging(sandbox, {.is_whole = true}));
  RETURN_IF_ERROR(Claim(directory, owner, state_directory));
  const std::string text = OwnerText(owner, PlaceOf(directory, owner.project_folder));
  const absl::StatusOr<std::optional<std::string>> present =
      sandbox.Read(kOwnerName, kOwnerBytesMax);
  if (present.ok() && *present == text) return absl::OkStatus();
  RETURN_IF_ERROR(EnsureWritableFile(sandbox.Full(kOwnerName)));
  RETURN_IF_ERROR(sandbox.Write(kOwnerName, text, false));
  const bool was_whole =
      present.ok() && (!present->has_value() || Unseal(kOwnerKind, kVersion, **present).ok());
  if (!was_whole)
    NoteRepair(fmt::format("{}: {}; it was written anew", sandbox.Full(kOwnerName),
                           present.ok() ? "its checksum is wrong" : MessageOf(present.status())));
  return absl::OkStatus();
}

}  // namespace galley::director
