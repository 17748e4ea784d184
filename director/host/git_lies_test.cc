// GitLiesTest: no variable or setting that changes git's answers hides an edit from LookAtGit and
// ChangedByGit. Uses real git in a real folder.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/program_output.h"
#include "common/content/name.h"
#include "common/content/testing/test_tree.h"
#include "director/host/git_files.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using Arguments = std::vector<std::string>;

class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str());
  }

 private:
  const std::string name_;
  std::optional<std::string> before_;
};

class GitLiesTest : public content::ContentTest {
 protected:
  void SetUp() override {
    content::ContentTest::SetUp();
    home_.emplace("HOME", dir_);
    configuration_.emplace("XDG_CONFIG_HOME", Host("config"));
    project_.root = dir_;
    project_.store.directory = Host(".galley/store");
    project_.output_directory = Host(".galley/cooked");
    project_.mounts = {{.path = "/Game", .directory = Host("work/content")}};
    Begin();
  }

  // Makes the repository anew, with one commit. The mount is a folder of the repository, so that
  // git is asked with patterns of paths.
  void Begin() {
    ASSERT_TRUE(RemoveAll(Host("work")).ok());
    for (const char* name : {"b.json", "c.txt", "sub/d.json"})
      Write(fmt::format("work/content/{}", name), "[1]\n");
    Git({"init", "-q"});
    Git({"add", "."});
    Git({"commit", "-qm", "one"});
  }

  std::string Git(Arguments arguments) {
    std::string path = "/usr/bin:/bin";
    if (const char* const given = std::getenv("PATH")) path = given;
    Arguments argv = {"/usr/bin/env", "git", "-C", Host("work")};
    for (const char* setting : {"user.name=x", "user.email=x@x", "core.fsmonitor=false"}) {
      argv.emplace_back("-c");
      argv.emplace_back(setting);
    }
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const auto ended = RunToEnd({.argv = std::move(argv),
                                 .environment = {"PATH=" + path, "GIT_CONFIG_NOSYSTEM=1"},
                                 .inherit_environment = false,
                                 .with_errors = true});
    EXPECT_TRUE(ended.ok() && ended->exit.ok())
        << fmt::format("{}", fmt::join(arguments, " ")) << (ended.ok() ? ended->errors : "");
    return ended.ok() ? ended->output.substr(0, ended->output.find('\n')) : "";
  }

  // Makes one edit of each kind: another file of the same size, a new file, a file that is gone,
  // and a folder with another case.
  void Edit() {
    Write("work/content/b.json", "[2]\n");
    Write("work/content/new.json", "[1]\n");
    std::filesystem::remove(Host("work/content/c.txt"));
    std::filesystem::rename(Host("work/content/sub"), Host("work/content/Sub"));
  }
  static constexpr std::array<const char*, 5> kEdited = {
      "/Game/b.json", "/Game/new.json", "/Game/c.txt", "/Game/sub/d.json", "/Game/Sub/d.json"};

  GitState Look() { return LookAtGit(project_, stop_).state; }

  // Expects that all edits are named, or nothing is known. Returns whether git was believed.
  bool ExpectFound(const GitState& before, const GitState& now,
                   std::span<const char* const> edited = kEdited) {
    const auto changed = ChangedByGit(project_, before, now, stop_);
    if (!changed.ok()) return false;
    for (const char* const path : edited) {
      EXPECT_TRUE(
          std::any_of(changed->begin(), changed->end(),
                      [&](const std::string& named) { return content::IsUnder(path, named); }))
          << path << " is not named";
    }
    return true;
  }

  project::Project project_;
  Cancellation stop_;
  std::optional<Variable> home_, configuration_;
};

TEST_F(GitLiesTest, WithoutALieGitKnows) {
  const GitState before = Look();
  EXPECT_EQ(before.why_unknown, "");
  Edit();
  const GitState now = Look();
  ASSERT_TRUE(ChangedByGit(project_, before, now, stop_).ok());
  ExpectFound(before, now);
}

TEST_F(GitLiesTest, VariablesOfTheOneWhoRunsUs) {
  Write("other/x", "");
  Write("lying", "[core]\n\tignoreCase = true\n\tworktree = /nowhere\n");
  const std::vector<std::vector<std::pair<std::string, std::string>>> lies = {
      {{"GIT_LITERAL_PATHSPECS", "1"}},
      {{"GIT_ICASE_PATHSPECS", "1"}},
      {{"GIT_GLOB_PATHSPECS", "1"}},
      {{"GIT_NOGLOB_PATHSPECS", "1"}},
      {{"GIT_DIR", Host("other")}},
      {{"GIT_WORK_TREE", Host("other")}},
      {{"GIT_INDEX_FILE", Host("other/index")}},
      {{"GIT_OBJECT_DIRECTORY", Host("other")}},
      {{"GIT_COMMON_DIR", Host("other")}},
      {{"GIT_PREFIX", "sub/"}},
      {{"GIT_NAMESPACE", "other"}},
      {{"GIT_ATTR_SOURCE", "HEAD"}},
      {{"GIT_EXTERNAL_DIFF", "/bin/true"}},
      {{"GIT_CEILING_DIRECTORIES", dir_}},
      {{"GIT_EXEC_PATH", Host("other")}},
      {{"GIT_REDIRECT_STDOUT", "off"}},
      {{"GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"}},
      {{"GIT_CONFIG_GLOBAL", Host("lying")}},
      {{"GIT_CONFIG_SYSTEM", Host("lying")}},
      {{"GIT_CONFIG_PARAMETERS", "'core.ignorecase'='true' 'core.worktree'='/nowhere'"}},
      {{"GIT_CONFIG_COUNT", "1"},
       {"GIT_CONFIG_KEY_0", "core.worktree"},
       {"GIT_CONFIG_VALUE_0", "/nowhere"}}};
  for (const auto& lie : lies) {
    for (const bool is_only_before : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, {}", lie.front().first, is_only_before ? "once" : "twice"));
      Begin();
      std::vector<std::unique_ptr<Variable>> variables;
      for (const auto& [name, value] : lie)
        variables.push_back(std::make_unique<Variable>(name, value));
      const GitState before = Look();
      if (is_only_before) variables.clear();
      Edit();
      const GitState now = Look();
      variables.clear();
      EXPECT_EQ(before.why_unknown, "");
      EXPECT_EQ(now.why_unknown, "");
      EXPECT_TRUE(ExpectFound(before, now)) << "git is not believed";
    }
  }
}

// HOME, XDG_CONFIG_HOME and PATH reach git: the first two say which folders of other users are
// safe.
TEST_F(GitLiesTest, WhatThePersonsOwnSettingsCallSafeIsRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(Host("work").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chown(Host("work/.git").c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(Look().why_unknown, HasSubstr("dubious ownership"));
  EXPECT_THAT(
      Look().why_unknown,
      HasSubstr(fmt::format("git config --global --add safe.directory '{}'", Host("work"))));
  const std::string safe = fmt::format("[safe]\n\tdirectory = {}\n", Host("work"));
  for (const char* const file : {".gitconfig", "config/git/config"}) {
    SCOPED_TRACE(file);
    Write(file, safe);
    EXPECT_EQ(Look().why_unknown, "");
    std::filesystem::remove(Host(file));
  }
  Write("bin/git", "#!/bin/sh\necho 'a git of PATH' >&2\nexit 128\n");
  std::filesystem::permissions(Host("bin/git"), std::filesystem::perms::owner_all);
  const Variable path("PATH", Host("bin") + ":/usr/bin:/bin");
  EXPECT_THAT(Look().why_unknown, HasSubstr("a git of PATH"));
}

// A file that was edited when git was asked under the lie has the commit's bytes again.
TEST_F(GitLiesTest, ALieDoesNotPoisonWhatIsKept) {
  Edit();
  std::optional<Variable> lie;
  lie.emplace("GIT_LITERAL_PATHSPECS", "1");
  const GitState before = Look();
  lie.reset();
  std::filesystem::remove_all(Host("work/content/Sub"));
  std::filesystem::remove(Host("work/content/new.json"));
  Git({"checkout", "-q", "--", "."});
  ExpectFound(before, Look());
}

TEST_F(GitLiesTest, SettingsAndMarksInTheRepository) {
  Write("all", "*\n");
  Write("hook", "#!/bin/sh\nprintf 'token\\0'\n");
  std::filesystem::permissions(Host("hook"), std::filesystem::perms::owner_all);
  const std::vector<std::vector<Arguments>> lies = {
      {{"config", "core.ignorecase", "true"}},
      {{"config", "core.fileMode", "false"}, {"config", "core.symlinks", "false"}},
      {{"config", "core.fsmonitor", Host("hook")}, {"update-index", "--fsmonitor"}},
      {{"config", "core.untrackedCache", "true"}, {"update-index", "--untracked-cache"}},
      {{"config", "core.ignoreStat", "true"}, {"update-index", "--refresh"}},
      {{"config", "core.checkStat", "minimal"}, {"config", "core.trustctime", "false"}},
      {{"config", "core.preloadIndex", "true"}},
      {{"config", "core.precomposeUnicode", "true"}},
      {{"config", "core.quotePath", "true"}},
      {{"config", "core.excludesFile", Host("all")}},
      {{"config", "core.attributesFile", Host("all")}},
      {{"config", "status.showUntrackedFiles", "no"}},
      {{"config", "diff.renames", "copies"}, {"config", "diff.noprefix", "true"}},
      {{"config", "diff.external", "/bin/true"}, {"config", "diff.relative", "true"}},
      {{"config", "diff.ignoreSubmodules", "all"}, {"config", "diff.orderFile", Host("all")}},
      {{"config", "diff.autoRefreshIndex", "false"}, {"config", "core.pager", "/bin/true"}},
      {{"config", "alias.ls-files", "!true"}, {"config", "alias.diff-index", "!true"}},
      {{"config", "attr.tree", "HEAD"}},
      {{"config", "submodule.recurse", "true"}},
      {{"config", "core.bare", "true"}},
      {{"config", "core.worktree", dir_}},
      {{"config", "core.worktree", Host("config")}},
      {{"config", "include.path", Host("nowhere")}},
      {{"update-index", "--assume-unchanged", "content/b.json", "content/c.txt"}},
      {{"update-index", "--skip-worktree", "content/b.json", "content/c.txt"}},
      {{"update-index", "--split-index"}},
      {{"sparse-checkout", "set", "--no-cone", "/*"}}};
  Write("config/x", "");
  // The test would also pass if git were never believed.
  std::vector<std::string> given_up;
  for (const std::vector<Arguments>& lie : lies) {
    SCOPED_TRACE(fmt::format("git {}", fmt::join(lie.front(), " ")));
    Begin();
    for (const Arguments& one : lie) Git(one);
    const GitState before = Look();
    Edit();
    if (!ExpectFound(before, Look()))
      given_up.push_back(fmt::format("{}", fmt::join(lie.front(), " ")));
  }
  EXPECT_THAT(given_up, testing::SizeIs(testing::Le(9))) << "most settings are overruled";
}

TEST_F(GitLiesTest, AnObjectThatStandsForAnotherIsWhatGitWrites) {
  const GitState before = Look();
  Write("work/content/x", "[7]\n");
  const std::string object = Git({"rev-parse", "HEAD:content/b.json"});
  Git({"replace", object, Git({"hash-object", "-w", "content/x"})});
  std::filesystem::remove(Host("work/content/x"));
  std::filesystem::remove(Host("work/content/b.json"));
  Git({"checkout", "content/b.json"});
  ASSERT_EQ(*ReadFile(Host("work/content/b.json")), "[7]\n");
  const GitState now = Look();
  EXPECT_THAT(now.why_unknown, HasSubstr("git replace --list"));
  ExpectFound(before, now);
}

TEST_F(GitLiesTest, SettingsThatNoCommandLineOverrulesAreNamed) {
  Git({"config", "attr.tree", "HEAD"});
  EXPECT_THAT(Look().why_unknown, HasSubstr("attr.tree"));
  Begin();
  Write("config/x", "");
  Git({"config", "core.worktree", Host("config")});
  EXPECT_THAT(Look().why_unknown, HasSubstr("core.worktree"));
  EXPECT_THAT(CheckRevision(project_, "HEAD", stop_).ToString(), HasSubstr("core.worktree"));
}

TEST_F(GitLiesTest, AKeyWithoutAValueIsTrue) {
  const std::string file = Host("work/.git/config");
  ASSERT_TRUE(WriteFileAtomic(file, *ReadFile(file) + "[core]\n\tautocrlf\n").ok());
  const GitState before = Look();
  Write("work/content/b.json", "[1]\r\n");
  Git({"add", "content/b.json"});  // the object is the earlier one
  ExpectFound(before, Look(), std::vector{"/Game/b.json"});
}

}  // namespace
}  // namespace galley::director
