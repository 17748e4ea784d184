#include "director/stage/apply_patch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/ledger.h"
#include "director/stage/patch_reader.h"
#include "director/stage/plan.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using tree::Difference;
using Kind = Difference::Kind;

constexpr size_t kCopyBytes = 256 << 10;
constexpr uint64_t kJournalBytesMax = 4096;

std::string InApplyFolder(std::string_view name) {
  return fmt::format("{}/{}", kApplyFolder, name);
}

class Applier {
 public:
  Applier(PatchReader& patch, Sandbox& sandbox, const std::atomic<bool>* interrupted)
      : interrupted_(interrupted),
        patch_(patch),
        index_(patch.index()),
        sandbox_(sandbox),
        // A digest of the patch, so that files of another patch are not taken for its own.
        prefix_(patch.digest().hex().substr(0, 16) + "-"),
        journal_text_(fmt::format("galley-apply 1\n{}\n", patch.digest().ToString())) {}

  absl::StatusOr<ApplyReport> Apply() {
    RETURN_IF_ERROR(CheckIsCheckedOut());
    ASSIGN_OR_RETURN(const std::optional<std::string> journal,
                     sandbox_.Read(InApplyFolder(kJournal), kJournalBytesMax));
    if (journal && *journal != journal_text_) return OtherPatch(*journal);
    report_.is_resumed = journal.has_value();
    if (!journal) {
      RETURN_IF_ERROR(CheckFolder());
      if (wanted_.empty()) return Clean();
      RETURN_IF_ERROR(CheckSources());
      RETURN_IF_ERROR(RemoveForeign());
      for (const size_t i : wanted_) RETURN_IF_ERROR(Prepare(i));
      RETURN_IF_ERROR(sandbox_.Sync());
      RETURN_IF_ERROR(CheckInterrupted(interrupted_));
      RETURN_IF_ERROR(WriteJournal());
    }
    RETURN_IF_ERROR(Replace());
    RETURN_IF_ERROR(sandbox_.Sync());
    return Clean();
  }

 private:
  static constexpr std::string_view kJournal = "journal";

  absl::Status OtherPatch(const std::string& journal) const {
    return FailedPreconditionError(
        "{}: another patch was begun and is not complete; apply that one again first ({})",
        sandbox_.Full(""), journal.substr(0, journal.find_last_not_of('\n') + 1));
  }

  std::string PreparedPath(size_t i) const { return InApplyFolder(prefix_ + std::to_string(i)); }

  // --- Before anything is touched.

  absl::Status CheckIsCheckedOut() {
    ASSIGN_OR_RETURN(const Node unfinished, sandbox_.Look(kCheckoutName));
    if (unfinished.kind == NodeKind::kAbsent) return absl::OkStatus();
    return FailedPreconditionError(
        "{} says that a checkout of it was not finished: check it out again first",
        sandbox_.Full(kCheckoutName));
  }

  absl::StatusOr<bool> IsAlreadyDone(const Difference& one) {
    if (one.kind != Kind::kAdded && one.kind != Kind::kChanged) {
      ASSIGN_OR_RETURN(const Node before, sandbox_.Look(one.before.path));
      if (before.kind == NodeKind::kFile || before.kind == NodeKind::kOther) return false;
    }
    return one.kind == Kind::kRemoved ? true : IsInPlace(one.after);
  }

  absl::StatusOr<bool> IsInPlace(const tree::TreeFile& file) {
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(file.path));
    if (node.kind != NodeKind::kFile || node.is_executable != file.is_executable) return false;
    return sandbox_.Holds(file.path, file.digest);
  }

  absl::Status CheckFolder() {
    for (size_t i = 0; i < index_.differences.size(); ++i) {
      RETURN_IF_ERROR(CheckInterrupted(interrupted_));
      const Difference& one = index_.differences[i];
      ASSIGN_OR_RETURN(const bool is_done, IsAlreadyDone(one));
      if (is_done) {
        ++report_.kept;
        continue;
      }
      wanted_.push_back(i);
      if (one.kind != Kind::kAdded) RETURN_IF_ERROR(CheckHolds(one.before.path, one.before.digest));
      if (one.kind == Kind::kAdded || one.kind == Kind::kRenamed)
        RETURN_IF_ERROR(CheckFree(one.after));
    }
    return absl::OkStatus();
  }

  absl::Status CheckHolds(const std::string& path, const Digest& digest) {
    if (!checked_.insert(path).second) return absl::OkStatus();
    ASSIGN_OR_RETURN(const bool holds, sandbox_.Holds(path, digest));
    if (holds) return absl::OkStatus();
    return FailedPreconditionError(
        "{} is not as in the tree {} that the patch is for; nothing was changed",
        sandbox_.Full(path), index_.from.ToString());
  }

  // Checks that nobody's file lies at the path of a new file, or above it. A folder of the old tree
  // may lie there, and a file of the old tree may lie where a folder comes: both go.
  absl::Status CheckFree(const tree::TreeFile& file) {
    const std::string& path = file.path;
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
    if (node.kind == NodeKind::kFolder) {
      RETURN_IF_ERROR(CheckOnlyGoing(path));
    } else if (node.kind != NodeKind::kAbsent) {
      ASSIGN_OR_RETURN(const bool is_in_place, IsInPlace(file));
      if (!is_in_place) return InTheWay(path);
    }
    for (size_t end = path.rfind('/'); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      const std::string above = path.substr(0, end);
      ASSIGN_OR_RETURN(const Node folder, sandbox_.Look(above));
      if (folder.kind != NodeKind::kFile && folder.kind != NodeKind::kOther) continue;
      if (!IsGoing(above)) return InTheWay(above);
    }
    return absl::OkStatus();
  }

  absl::Status CheckOnlyGoing(const std::string& folder) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(folder));
    // An emptied folder goes with its last file; this folder had no file.
    if (names.empty()) return InTheWay(folder);
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
      if (node.kind == NodeKind::kFolder) {
        RETURN_IF_ERROR(CheckOnlyGoing(path));
      } else if (!IsGoing(path)) {
        return InTheWay(path);
      }
    }
    return absl::OkStatus();
  }

  bool IsGoing(const std::string& path) {
    if (going_.empty()) {
      for (const Difference& one : index_.differences) {
        if (one.kind == Kind::kRemoved || one.kind == Kind::kRenamed)
          going_.insert(one.before.path);
      }
    }
    return going_.contains(path);
  }

  absl::Status InTheWay(const std::string& path) const {
    return FailedPreconditionError(
        "{} lies where the patch puts something else, and is not of the tree {} that it "
        "is for; nothing was changed",
        sandbox_.Full(path), index_.from.ToString());
  }

  const PatchRecipe& RecipeOf(const Digest& digest) const {
    const auto found = std::lower_bound(
        index_.recipes.begin(), index_.recipes.end(), digest,
        [](const PatchRecipe& recipe, const Digest& wanted) { return recipe.digest < wanted; });
    return *found;  // the index was checked
  }

  // Checks the files from which pieces are taken; files of contents that are there already are not
  // needed.
  absl::Status CheckSources() {
    for (const size_t i : wanted_) {
      RETURN_IF_ERROR(CheckInterrupted(interrupted_));
      const Difference& one = index_.differences[i];
      if (one.kind == Kind::kRemoved) continue;
      ASSIGN_OR_RETURN(const bool is_prepared, IsPrepared(i));
      if (is_prepared) continue;
      for (const PatchPiece& piece : RecipeOf(one.after.digest).pieces) {
        if (piece.source == 0) continue;
        const PatchSource& source = index_.sources[piece.source - 1];
        RETURN_IF_ERROR(CheckHolds(source.path, source.digest));
      }
    }
    return absl::OkStatus();
  }

  // --- In .galley-apply.

  absl::Status RemoveForeign() {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(kApplyFolder));
    for (const std::string& name : names) {
      if (!name.starts_with(prefix_)) RETURN_IF_ERROR(sandbox_.RemoveFile(InApplyFolder(name)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> IsPrepared(size_t i) {
    const tree::TreeFile& after = index_.differences[i].after;
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(PreparedPath(i)));
    if (node.kind != NodeKind::kFile || node.is_executable != after.is_executable) return false;
    return sandbox_.Holds(PreparedPath(i), after.digest);
  }

  absl::Status Prepare(size_t i) {
    RETURN_IF_ERROR(CheckInterrupted(interrupted_));
    const Difference& one = index_.differences[i];
    if (one.kind == Kind::kRemoved) return absl::OkStatus();
    ASSIGN_OR_RETURN(const bool is_prepared, IsPrepared(i));
    if (is_prepared) return absl::OkStatus();
    if (one.kind == Kind::kRenamed && one.before.is_executable == one.after.is_executable) {
      // Links the file itself, which loses its old name later.
      ASSIGN_OR_RETURN(const Node before, sandbox_.Look(one.before.path));
      if (before.is_executable == one.after.is_executable) {
        ASSIGN_OR_RETURN(const bool is_linked, sandbox_.Link(one.before.path, PreparedPath(i)));
        if (is_linked) return absl::OkStatus();
      }
    }
    return Build(one.after, PreparedPath(i));
  }

  absl::Status Build(const tree::TreeFile& file, const std::string& path) {
    ASSIGN_OR_RETURN(const FileDescriptor to, sandbox_.Create(path, file.is_executable));
    DigestBuilder builder;
    const auto add = [&](std::string_view bytes) -> absl::Status {
      RETURN_IF_ERROR(CheckInterrupted(interrupted_));
      builder.Add(bytes);
      return WriteAll(to.get(), bytes, sandbox_.Full(path));
    };
    for (const PatchPiece& piece : RecipeOf(file.digest).pieces) {
      RETURN_IF_ERROR(piece.source == 0
                          ? patch_.ReadLiteral(piece.offset, piece.size_bytes, add)
                          : CopyPiece(index_.sources[piece.source - 1].path, piece, add));
    }
    report_.bytes_written += file.digest.size_bytes();
    if (builder.Finish() == file.digest) return absl::OkStatus();
    RETURN_IF_ERROR(sandbox_.RemoveFile(path));
    return DataLossError("{} does not come out as the patch says; nothing was changed",
                         sandbox_.Full(file.path));
  }

  absl::Status CopyPiece(const std::string& path, const PatchPiece& piece,
                         const PatchReader::Sink& sink) {
    if (opened_path_ != path || !opened_.valid()) {
      ASSIGN_OR_RETURN(opened_, sandbox_.OpenFile(path));
      opened_path_ = path;
    }
    std::string buffer(std::min<uint64_t>(piece.size_bytes, kCopyBytes), '\0');
    for (uint64_t done = 0; done < piece.size_bytes;) {
      const ssize_t count = ::pread(opened_.get(), buffer.data(),
                                    std::min<uint64_t>(buffer.size(), piece.size_bytes - done),
                                    static_cast<off_t>(piece.offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrnoStatus(errno, "read", sandbox_.Full(path));
      if (count == 0) {
        return FailedPreconditionError("{} changed while the patch was applied",
                                       sandbox_.Full(path));
      }
      RETURN_IF_ERROR(sink(std::string_view(buffer).substr(0, static_cast<size_t>(count))));
      done += static_cast<uint64_t>(count);
    }
    return absl::OkStatus();
  }

  // Writes the journal whole, after everything that was prepared.
  absl::Status WriteJournal() {
    const std::string path = InApplyFolder(kJournal), unfinished = path + ".new";
    {
      ASSIGN_OR_RETURN(const FileDescriptor file, sandbox_.Create(unfinished, false));
      RETURN_IF_ERROR(WriteAll(file.get(), journal_text_, sandbox_.Full(unfinished)));
      if (::fdatasync(file.get()) != 0)
        return ErrnoStatus(errno, "sync", sandbox_.Full(unfinished));
    }
    RETURN_IF_ERROR(sandbox_.Move(unfinished, path));
    return sandbox_.Sync();
  }

  // --- From here on forward only; each step may have been done by a run before.

  // Notes that a sandbox that a cook staged no longer holds what its marker says. The ledger still
  // says which files are Galley's.
  absl::Status NoteInLedger() {
    ASSIGN_OR_RETURN(Ledger ledger, ReadLedger(sandbox_));
    if (ledger.roots.empty()) return sandbox_.RemoveFile(kMarkerName);
    for (const Difference& one : index_.differences) {
      if (one.kind != Kind::kRemoved) ledger.files.push_back(one.after.path);
    }
    SortUnique(ledger.files);
    return BeginStaging(sandbox_, ledger);
  }

  // Notes that removed files are no longer Galley's: a file that somebody puts there belongs to
  // that person.
  absl::Status NoteRemoved() {
    ASSIGN_OR_RETURN(Ledger ledger, ReadLedger(sandbox_));
    if (ledger.roots.empty()) return absl::OkStatus();
    std::set<std::string> gone;
    for (const Difference& one : index_.differences) {
      if (one.kind == Kind::kRemoved || one.kind == Kind::kRenamed) gone.insert(one.before.path);
    }
    for (const Difference& one : index_.differences) {
      if (one.kind != Kind::kRemoved) gone.erase(one.after.path);
    }
    std::erase_if(ledger.files, [&](const std::string& path) { return gone.contains(path); });
    return BeginStaging(sandbox_, ledger);
  }

  absl::Status Replace() {
    RETURN_IF_ERROR(NoteInLedger());
    for (const Difference& one : index_.differences) {
      if (one.kind == Kind::kRemoved || one.kind == Kind::kRenamed) RETURN_IF_ERROR(RemoveOld(one));
    }
    for (size_t i = 0; i < index_.differences.size(); ++i) {
      if (index_.differences[i].kind != Kind::kRemoved) RETURN_IF_ERROR(Place(i));
    }
    return NoteRemoved();
  }

  absl::Status RemoveOld(const Difference& one) {
    const std::string& path = one.before.path;
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
    if (node.kind == NodeKind::kFile) {
      RETURN_IF_ERROR(sandbox_.RemoveFile(path));
      if (one.kind == Kind::kRemoved) ++report_.removed;
    }
    // Folders that are empty now go, because trees have no empty folders.
    std::string folder = path;
    for (size_t end = folder.rfind('/'); end != std::string::npos; end = folder.rfind('/')) {
      folder.resize(end);
      ASSIGN_OR_RETURN(const bool is_gone, sandbox_.RemoveEmptyFolder(folder));
      if (!is_gone) break;
    }
    return absl::OkStatus();
  }

  absl::Status Place(size_t i) {
    const Difference& one = index_.differences[i];
    ASSIGN_OR_RETURN(const Node prepared, sandbox_.Look(PreparedPath(i)));
    if (prepared.kind == NodeKind::kFile) {
      RETURN_IF_ERROR(sandbox_.Move(PreparedPath(i), one.after.path));
      ++(one.kind == Kind::kRenamed ? report_.renamed : report_.written);
      return absl::OkStatus();
    }
    if (!report_.is_resumed) return absl::OkStatus();  // was there already
    ASSIGN_OR_RETURN(const bool is_in_place, IsInPlace(one.after));
    if (is_in_place) return absl::OkStatus();
    return FailedPreconditionError(
        "{} was changed while the patch was half applied: lay the tree {} out anew",
        sandbox_.Full(one.after.path), index_.to.ToString());
  }

  absl::StatusOr<ApplyReport> Clean() {
    // The journal goes last: while it is there, a missing file beside it was renamed away.
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(kApplyFolder));
    for (const std::string& name : names) {
      if (name != kJournal) RETURN_IF_ERROR(sandbox_.RemoveFile(InApplyFolder(name)));
    }
    RETURN_IF_ERROR(sandbox_.RemoveFile(InApplyFolder(kJournal)));
    ASSIGN_OR_RETURN(const bool is_gone, sandbox_.RemoveEmptyFolder(kApplyFolder));
    if (!is_gone) {
      return FailedPreconditionError("{} is not empty: the patch was applied, remove it by hand",
                                     sandbox_.Full(kApplyFolder));
    }
    return report_;
  }

  const std::atomic<bool>* const interrupted_;
  PatchReader& patch_;
  const PatchIndex& index_;
  Sandbox& sandbox_;
  const std::string prefix_;
  const std::string journal_text_;
  ApplyReport report_;
  std::vector<size_t> wanted_;     // differences that are still to be made
  std::set<std::string> checked_;  // files of the old tree that were hashed
  std::set<std::string> going_;    // paths that are removed
  FileDescriptor opened_;          // the file that the last piece came from
  std::string opened_path_;
};

}  // namespace

namespace {

absl::StatusOr<ApplyReport> Apply(const std::string& patch, const std::string& directory,
                                  const std::atomic<bool>* interrupted) {
  ASSIGN_OR_RETURN(PatchReader reader, PatchReader::Open(patch, interrupted));
  ASSIGN_OR_RETURN(const FileDescriptor lock, LockFolder(directory));
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  return Applier(reader, sandbox, interrupted).Apply();
}

}  // namespace

absl::StatusOr<ApplyReport> ApplyPatch(const std::string& patch, const std::string& directory,
                                       const std::atomic<bool>* interrupted) {
  absl::StatusOr<ApplyReport> report = Apply(patch, directory, interrupted);
  if (!absl::IsCancelled(report.status())) return report;
  const std::string made = JoinPath(directory, kApplyFolder);
  return CancelledError(
      "interrupted: no file of {} was changed; the same command does it{}", directory,
      FileExists(made) ? fmt::format(", and uses what {} holds by now", made) : "");
}

}  // namespace galley::director
