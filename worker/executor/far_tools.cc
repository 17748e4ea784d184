#include "worker/executor/far_tools.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/status_macros.h"
#include "common/wire/convert.h"

namespace galley::worker {

absl::StatusOr<Look> FarTools::Find(const std::string& path, const content::Snapshot& snapshot,
                                    LazyView& view, FetchedBytes& bytes) {
  if (path.starts_with('/')) return FindSystemTool(path, bytes);
  const std::string in_mount = InMount(path, snapshot);
  if (in_mount.empty()) return OfTheProject(path, bytes);
  const absl::StatusOr<Digest> digest = bytes.DigestOf(in_mount);
  if (!digest.ok()) {
    return absl::IsAborted(digest.status()) ? InterruptedBy(StaleFile{in_mount}) : digest.status();
  }
  ASSIGN_OR_RETURN(std::string host_path, view.FileAt(in_mount));
  return Look{.value = digest->ToString(), .bytes = nullptr, .host_path = std::move(host_path)};
}

std::string FarTools::InMount(const std::string& path, const content::Snapshot& snapshot) const {
  const std::string host_path = JoinPath(project_root_, path);
  for (const content::Mount& mount : snapshot.mounts()) {
    if (!host_path.starts_with(mount.directory + "/")) continue;
    std::string name = mount.path + host_path.substr(mount.directory.size());
    // Another mount may lie over this mount.
    const content::FileEntry* const entry = snapshot.Find(name);
    if (entry != nullptr && entry->error.empty() && entry->host_path == host_path) return name;
  }
  return "";
}

absl::StatusOr<FarTools::Known> FarTools::Directors(const std::string& path, FetchedBytes& bytes) {
  const absl::Time now = clock_.Monotonic();
  const auto found = directors_.find(path);
  if (found != directors_.end() &&
      (now - found->second.asked < kBelieved || found->second.asked >= compared_))
    return found->second;
  ASSIGN_OR_RETURN(const v1::ExecutorBytes said, bytes.DirectorsTool(path));
  Known known{.value = std::string(record::kAbsent), .asked = now};
  if (!said.is_absent()) {
    ASSIGN_OR_RETURN(const Digest digest, wire::FromProto(said.digest()));
    known.value = digest.ToString();
    known.is_executable = said.is_executable();
  }
  return directors_[path] = std::move(known);
}

absl::StatusOr<Look> FarTools::FindSystemTool(const std::string& path, FetchedBytes& bytes) {
  const absl::StatusOr<Digest> digest = own_.DigestOf(path);
  if (!digest.ok() && !absl::IsNotFound(digest.status())) return digest.status();
  std::string value = digest.ok() ? digest->ToString() : std::string(record::kAbsent);
  ASSIGN_OR_RETURN(const Known wanted, Directors(path, bytes));
  if (wanted.value != value)
    return InterruptedBy(OtherTool{.path = path, .wanted = wanted.value, .found = value});
  return Look{.value = std::move(value), .bytes = nullptr, .host_path = digest.ok() ? path : ""};
}

absl::StatusOr<Look> FarTools::OfTheProject(const std::string& path, FetchedBytes& bytes) {
  ASSIGN_OR_RETURN(const Known wanted, Directors(path, bytes));
  if (wanted.value == record::kAbsent)
    return Look{.value = wanted.value, .bytes = nullptr, .host_path = ""};
  const std::string host_path = JoinPath(directory_, path);
  // A program may have changed the file.
  Put& put = put_[path];
  const absl::StatusOr<FileStat> there = StatFile(host_path, /*follow_links=*/false);
  if (put.value != wanted.value || !there.ok() || *there != put.stat) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(wanted.value));
    RETURN_IF_ERROR(CreateDirectories(host_path.substr(0, host_path.rfind('/'))));
    const std::string made = host_path + ".new";
    const absl::Status written = WriteInPieces(made, [&](const TakePiece& take) {
                                   return bytes.StreamTool(path, digest, take);
                                 }).status();
    // The director has another file by now: forget its answer, so that it is asked again.
    if (absl::IsAborted(written)) directors_.erase(path);
    if (!written.ok())
      return absl::IsAborted(written) ? absl::UnavailableError(MessageOf(written)) : written;
    if (::chmod(made.c_str(), wanted.is_executable ? 0555 : 0444) != 0 ||
        ::rename(made.c_str(), host_path.c_str()) != 0)
      return ErrnoStatus(errno, "put the program", host_path);
    ASSIGN_OR_RETURN(put.stat, StatFile(host_path, /*follow_links=*/false));
    put.value = wanted.value;
  }
  return Look{.value = wanted.value, .bytes = nullptr, .host_path = host_path};
}

struct FarTools::Question {
  std::string path;   // on this machine
  std::string asked;  // on the director's machine
  Looks::Found found = Looks::Found::kAbsent;
  bool is_opened = false;

  bool is_of_system() const { return path == asked; }
};

absl::StatusOr<std::vector<FarTools::Question>> FarTools::QuestionsOf(const Looks& looks,
                                                                      const std::string& own,
                                                                      const LazyView& view) const {
  std::vector<Question> questions;
  for (const auto& [path, found] : looks.found) {
    Question question{.path = path, .asked = path, .found = found};
    question.is_opened = looks.opened.contains(path);
    if (path.starts_with(view.root() + "/")) {
      question.asked = view.DirectorsPath(path);
      if (question.asked.empty()) continue;  // it is in the table, which both machines have
    } else if (path == directory_ || path.starts_with(directory_ + "/")) {
      question.asked = path.size() == directory_.size() ? "." : path.substr(directory_.size() + 1);
    } else if (const std::string folder = path.substr(0, path.rfind('/'));
               !folder.empty() && own.starts_with(folder + "/")) {
      // On the director's machine, the folder around the project is another folder.
      return FailedPreconditionError("its program looks for {}, above the folder in which it runs",
                                     path);
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

absl::Status FarTools::Ask(const std::vector<Question>& questions, FetchedBytes& bytes) {
  const absl::Time now = clock_.Monotonic();
  if (finds_.size() > kFindsMax) finds_.clear();
  std::vector<v1::ProgramLook> looks;
  for (const Question& question : questions) {
    const auto known = finds_.find({question.asked, question.is_opened});
    if (known != finds_.end() && now - known->second.asked < kFindsBelieved) continue;
    v1::ProgramLook& look = looks.emplace_back();
    look.set_path(question.asked);
    look.set_is_opened(question.is_opened);
  }
  if (looks.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<v1::FoundThere> found, bytes.DirectorsFinds(looks));
  for (size_t i = 0; i < looks.size(); ++i) {
    // Programs often read such files, too, so the digest serves Find as well.
    if (found[i].kind() == v1::FoundThere::FILE && found[i].has_digest() &&
        looks[i].path().starts_with('/')) {
      ASSIGN_OR_RETURN(const Digest digest, wire::FromProto(found[i].digest()));
      directors_[looks[i].path()] = {.value = digest.ToString(), .asked = now};
    }
    finds_[{looks[i].path(), looks[i].is_opened()}] = {.there = std::move(found[i]), .asked = now};
  }
  return absl::OkStatus();
}

namespace {

std::string_view NameOf(v1::FoundThere::Kind kind) {
  switch (kind) {
    case v1::FoundThere::ABSENT:
      return record::kAbsent;
    case v1::FoundThere::FILE:
      return record::kIsFile;
    case v1::FoundThere::FOLDER:
      return record::kFolder;
    default:
      return "something else";
  }
}

v1::FoundThere::Kind KindOf(Looks::Found found) {
  switch (found) {
    case Looks::Found::kAbsent:
      return v1::FoundThere::ABSENT;
    case Looks::Found::kFile:
      return v1::FoundThere::FILE;
    case Looks::Found::kFolder:
      return v1::FoundThere::FOLDER;
    case Looks::Found::kOther:
      break;
  }
  return v1::FoundThere::OTHER;
}

}  // namespace

absl::Status FarTools::Judge(const Question& question, const v1::FoundThere& there) {
  if (there.kind() == v1::FoundThere::NOT_TOLD)
    return FailedPreconditionError(
        "its program looks for {}, of which workers on other machines are not told",
        question.asked);
  std::string found(NameOf(KindOf(question.found)));
  std::string wanted(NameOf(there.kind()));
  if (found == wanted && question.is_opened && there.has_digest()) {
    ASSIGN_OR_RETURN(const Digest directors, wire::FromProto(there.digest()));
    const absl::StatusOr<Digest> ours = question.found == Looks::Found::kFolder
                                            ? DigestOfNames(question.path)
                                            : own_.DigestOf(question.path);
    found = ours.ok() ? ours->ToString() : std::string(record::kAbsent);
    wanted = directors.ToString();
  }
  // The director knows a file of a mount only by its path, so nobody compared the bytes.
  const bool is_unknown = question.is_opened && question.found == Looks::Found::kFile &&
                          there.kind() == v1::FoundThere::FILE && !there.has_digest();
  if (found == wanted && !is_unknown) return absl::OkStatus();
  if (question.is_of_system())
    return InterruptedBy(OtherTool{.path = question.path, .wanted = wanted, .found = found});
  return FailedPreconditionError(
      "its program looks for {} of the project, which is not the same here: wanted {}, found {}",
      question.asked, wanted, found);
}

absl::Status FarTools::Compare(const Looks& looks, const std::string& own, const LazyView& view,
                               FetchedBytes& bytes) {
  const absl::Time began = clock_.Monotonic();
  ASSIGN_OR_RETURN(const std::vector<Question> questions, QuestionsOf(looks, own, view));
  RETURN_IF_ERROR(Ask(questions, bytes));
  for (const Question& question : questions)
    RETURN_IF_ERROR(Judge(question, finds_.at({question.asked, question.is_opened}).there));
  compared_ = began;
  return absl::OkStatus();
}

}  // namespace galley::worker
