#include "director/host/git_repository.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kWaitMax = absl::Seconds(60);
constexpr size_t kOutputBytesMax = size_t{1} << 30;

// The variables of our caller that git gets: they say where git is, which files of the user it
// reads (safe.directory stands there), and for whom root runs git. No other variable reaches git:
// some fifty GIT_* variables change an answer, and each release adds more.
constexpr std::array<std::string_view, 4> kAllowedVariables = {"HOME", "PATH", "SUDO_UID",
                                                               "XDG_CONFIG_HOME"};
// GIT_TRACE2*: the user's settings may send traces to files, and nothing may be written.
constexpr std::array<std::string_view, 7> kOwnVariables = {"GIT_OPTIONAL_LOCKS=0",
                                                           "GIT_TERMINAL_PROMPT=0",
                                                           "GIT_NO_LAZY_FETCH=1",
                                                           "GIT_TRACE2=0",
                                                           "GIT_TRACE2_EVENT=0",
                                                           "GIT_TRACE2_PERF=0",
                                                           "LC_ALL=C"};

// The settings that let git look less closely, or see other names, files or objects. These values
// win over the values of all of git's files.
constexpr std::array<std::string_view, 13> kSettings = {
    "core.checkStat=default",    "core.fileMode=true",
    "core.fsmonitor=false",      "core.ignoreCase=false",
    "core.ignoreStat=false",     "core.precomposeUnicode=false",
    "core.symlinks=true",        "core.trustctime=true",
    "core.untrackedCache=false", "core.useReplaceRefs=false",
    "diff.relative=false",       "sparse.expectFilesOutsideOfPatterns=false",
    "submodule.recurse=false"};

std::vector<std::string> Environment() {
  std::vector<std::string> values(kOwnVariables.begin(), kOwnVariables.end());
  for (const std::string_view name : kAllowedVariables) {
    const std::string variable(name);
    if (const char* const value = std::getenv(variable.c_str()))
      values.push_back(variable + "=" + value);
  }
  return values;
}

absl::StatusOr<ProgramOutput> RunGit(const std::string& folder, std::vector<std::string> arguments,
                                     Cancellation& stop, bool with_errors = false) {
  std::vector<std::string> argv = {"/usr/bin/env", "git", "--no-replace-objects", "-C", folder};
  for (const std::string_view setting : kSettings) {
    argv.emplace_back("-c");
    argv.emplace_back(setting);
  }
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return RunToEnd({.argv = std::move(argv),
                   .environment = Environment(),
                   .inherit_environment = false,
                   .is_silent = !with_errors,
                   .with_errors = with_errors,
                   .wait_max = kWaitMax,
                   .output_bytes_max = kOutputBytesMax,
                   .stop = &stop});
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Returns git's last words: "fatal: detected dubious ownership in repository at '/x'".
std::string WordsOf(const std::string& errors) {
  const size_t fatal = errors.find("fatal: ");
  std::string words =
      EscapeControl(FirstLine(fatal == std::string::npos ? errors : errors.substr(fatal + 7)));
  // The lines that follow say what to do, among other things.
  const size_t folder = words.find('\'');  // in quotes
  if (words.find("dubious ownership") != std::string::npos && folder != std::string::npos)
    words += "; if its owner may be trusted: git config --global --add safe.directory " +
             words.substr(folder);
  return words;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

// Returns the file in which git looks for attributes when no setting says otherwise.
std::string AttributesOfUser() {
  const char* const configuration = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  if (configuration != nullptr && *configuration != '\0')
    return JoinPath(configuration, "git/attributes");
  return JoinPath(home == nullptr ? "/" : home, ".config/git/attributes");
}

std::string Relative(const std::string& folder, const std::string& top) {
  return folder == top ? "" : folder.substr(top == "/" ? 1 : top.size() + 1);
}

}  // namespace

absl::StatusOr<std::string> GitRepository::TopOf(const std::string& folder, Cancellation& stop) {
  constexpr int kNotInstalled = 127;  // env(1)
  ASSIGN_OR_RETURN(const ProgramOutput answer,
                   RunGit(folder, {"rev-parse", "--show-toplevel"}, stop, /*with_errors=*/true));
  const std::string top = FirstLine(answer.output);
  if (!answer.exit.ok()) {
    if (answer.exit.code == kNotInstalled ||
        answer.errors.find("not a git repository") != std::string::npos ||
        answer.errors.find("cannot change to") != std::string::npos)
      return NotFoundError("{} is in no git repository", folder);
    return FailedPreconditionError("git does not answer for {}: {}", folder,
                                   WordsOf(answer.errors));
  }
  if (top.empty()) return NotFoundError("{} is in no git repository", folder);
  // A newline in the name of the top would end the name.
  if (answer.output.find('\n') + 1 != answer.output.size())
    return UnavailableError("git says \"{}\"", answer.output);
  if (!content::IsUnder(folder, top))
    return FailedPreconditionError(
        "the repository that {} lies in has its files in {} (core.worktree)", folder,
        EscapeControl(top));
  return top;
}

GitRepository::GitRepository(std::string top, std::vector<std::string> folders,
                             const std::vector<std::string>& excluded, Cancellation& stop)
    : top_(std::move(top)), stop_(stop) {
  for (const std::string& folder : folders) {
    const std::string path = Relative(folder, top_);
    pathspecs_.push_back(path.empty() ? "." : ":(top,literal)" + path);
  }
  for (const std::string& folder : excluded) {
    if (folder != top_ && content::IsUnder(folder, top_))
      pathspecs_.push_back(":(top,literal,exclude)" + Relative(folder, top_));
  }
}

absl::StatusOr<std::string> GitRepository::Ask(std::vector<std::string> arguments) const {
  ASSIGN_OR_RETURN(ProgramOutput answer, RunGit(top_, arguments, stop_));
  if (answer.exit.ok()) return std::move(answer.output);
  return UnavailableError("`git {}` failed in {}: {}", arguments.front(), top_,
                          answer.exit.ToString());
}

absl::StatusOr<std::vector<std::string>> GitRepository::List(
    std::vector<std::string> arguments) const {
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), pathspecs_.begin(), pathspecs_.end());
  ASSIGN_OR_RETURN(const std::string answer, Ask(std::move(arguments)));
  std::vector<std::string> paths = Split(answer);
  for (std::string& path : paths) {
    if (path.ends_with('/')) path.pop_back();
    path = JoinPath(top_, path);
  }
  return paths;
}

absl::StatusOr<std::string> GitRepository::Head() const {
  ASSIGN_OR_RETURN(const ProgramOutput answer,
                   RunGit(top_, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}, stop_));
  if (!answer.exit.ok()) return NotFoundError("{} has no commit yet", top_);
  return FirstLine(answer.output);
}

absl::StatusOr<bool> GitRepository::Has(const std::string& revision) const {
  ASSIGN_OR_RETURN(
      const ProgramOutput answer,
      RunGit(top_, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"},
             stop_));
  return answer.exit.ok();
}

absl::StatusOr<bool> GitRepository::IsShallow() const {
  ASSIGN_OR_RETURN(const std::string answer, Ask({"rev-parse", "--is-shallow-repository"}));
  return FirstLine(answer) == "true";
}

absl::StatusOr<std::string> GitRepository::WhyNotBelieved() const {
  ASSIGN_OR_RETURN(const ProgramOutput tree, RunGit(top_, {"config", "--get", "attr.tree"}, stop_));
  if (tree.exit.ok())
    return fmt::format(
        "git's setting attr.tree is set in {}, so that git reads attributes that are not those of "
        "the files",
        top_);
  ASSIGN_OR_RETURN(const std::string replaced,
                   Ask({"for-each-ref", "--count=1", "--format=%(refname)", "refs/replace/"}));
  if (replaced.empty()) return "";
  return fmt::format(
      "{} has objects that stand for others (`git replace --list`), so that git writes other files "
      "than its commits name",
      top_);
}

absl::StatusOr<std::vector<std::string>> GitRepository::DifferingFrom(
    const std::string& commit) const {
  return List(
      {"diff-index", "--name-only", "--no-renames", "--ignore-submodules=all", "-z", commit});
}

absl::StatusOr<std::vector<std::string>> GitRepository::Untracked() const {
  return List({"ls-files", "--others", "-z"});
}

absl::StatusOr<GitRepository::Tracked> GitRepository::LookAtTracked() const {
  std::vector<std::string> arguments = {"ls-files", "-s", "-v", "-z", "--"};
  arguments.insert(arguments.end(), pathspecs_.begin(), pathspecs_.end());
  ASSIGN_OR_RETURN(const std::string answer, Ask(std::move(arguments)));
  ASSIGN_OR_RETURN(Tracked tracked, ReadTracked(answer));
  for (auto* paths : {&tracked.repositories, &tracked.unwatched}) {
    for (std::string& path : *paths) path = JoinPath(top_, path);
  }
  // Lists all files except those that git does not convert: files without such an attribute, and
  // files that are declared as no text and have no other such attribute.
  arguments = {"ls-files", "-z", "--"};
  arguments.insert(arguments.end(), pathspecs_.begin(), pathspecs_.end());
  ASSIGN_OR_RETURN(const ProgramOutput converts,
                   RunGit(top_, {"config", "--get", "core.autocrlf"}, stop_));
  // A key without a value means true.
  if (!converts.exit.ok() || FirstLine(converts.output) == "false")
    arguments.emplace_back(
        ":(exclude,top,attr:!filter !text !eol !ident !working-tree-encoding !crlf)");
  arguments.emplace_back(":(exclude,top,attr:!filter -text !ident !working-tree-encoding)");
  ASSIGN_OR_RETURN(const std::string converted, Ask(std::move(arguments)));
  for (const std::string& path : Split(converted))
    tracked.unwatched.push_back(JoinPath(top_, path));
  return tracked;
}

absl::StatusOr<std::string> GitRepository::RulesId(
    const std::vector<std::string>& untracked) const {
  ASSIGN_OR_RETURN(
      const ProgramOutput settings,
      RunGit(top_, {"config", "-z", "--get-regexp", "^(attr|core|filter|extensions)[.]"}, stop_));
  std::string text = settings.output;
  // Attributes of the folders above count as well.
  ASSIGN_OR_RETURN(const std::string named,
                   Ask({"ls-files", "-z", "--cached", "--", ":(top,glob)**/.gitattributes"}));
  // If such a file does not exist, git reads the file's entry in its index.
  ASSIGN_OR_RETURN(const std::string indexed,
                   Ask({"ls-files", "-s", "-z", "--", ":(top,glob)**/.gitattributes"}));
  text += indexed;
  ASSIGN_OR_RETURN(const std::string info, Ask({"rev-parse", "--git-path", "info/attributes"}));
  ASSIGN_OR_RETURN(const ProgramOutput own,
                   RunGit(top_, {"config", "--path", "--get", "core.attributesFile"}, stop_));
  std::set<std::string> files = {"/etc/gitattributes", "/usr/local/etc/gitattributes",
                                 AbsolutePath(FirstLine(info), top_)};
  for (const std::string& path : Split(named)) files.insert(JoinPath(top_, path));
  for (const std::string& path : untracked) {
    if (path.ends_with("/.gitattributes")) files.insert(path);
  }
  files.insert(own.exit.ok() ? AbsolutePath(FirstLine(own.output), top_) : AttributesOfUser());
  for (const std::string& file : files) {
    const absl::StatusOr<std::string> bytes = ReadFile(file);
    if (bytes.ok()) text += fmt::format("\n{} {}", file, Digest::Of(*bytes).ToString());
  }
  return Digest::Of(text).ToString();
}

absl::StatusOr<GitRepository::Tracked> ReadTracked(std::string_view answer) {
  GitRepository::Tracked tracked;
  while (!answer.empty()) {
    const size_t end = answer.find('\0');
    const std::string_view entry = answer.substr(0, end);
    answer.remove_prefix(end == std::string_view::npos ? answer.size() : end + 1);
    // Format: "H 100644 <object> <stage>\t<path>".
    const size_t tab = entry.find('\t');
    if (entry.size() < 9 || entry[1] != ' ' || entry[8] != ' ' || tab == std::string_view::npos)
      return absl::InvalidArgumentError("git lists its index in another form");
    const char tag = entry[0];
    const std::string_view mode = entry.substr(2, 6);
    std::string path(entry.substr(tab + 1));
    if (mode == "160000") {
      tracked.repositories.push_back(std::move(path));
    } else if ((mode != "100644" && mode != "100755") || tag != 'H') {
      tracked.unwatched.push_back(std::move(path));
    }
  }
  return tracked;
}

}  // namespace galley::director
