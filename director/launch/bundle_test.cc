// BundleTest: uses echo(1) in place of galley, which prints its arguments.
#include "director/launch/bundle.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/base/program_output.h"
#include "director/launch/farm_launcher.h"
#include "director/launch/systems.h"
#include "director/launch/testing/test_programs.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class BundleTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "bundle").value();
    MakeTestPrograms(Path("programs"));
    file_ = std::make_shared<BundleFile>(Path("programs"), Path("bundle folder"));
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  std::string Path(std::string_view name) const { return JoinPath(folder_, name); }
  // Runs on a machine that has the user's home.
  ProgramOutput Run(std::vector<std::string> argv) const {
    auto ended = RunToEnd({.argv = std::move(argv),
                           .environment = {"HOME=" + Path("home"), "PATH=/usr/bin:/bin"},
                           .inherit_environment = false,
                           .with_errors = true});
    EXPECT_TRUE(ended.ok()) << ended.status();
    return ended.ok() ? *std::move(ended) : ProgramOutput{};
  }
  ProgramOutput Script(const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(Path("script"), text).ok());
    return Run({"/bin/sh", Path("script")});
  }
  std::string There(std::string_view name = "") const {
    return Path("home/.cache/galley/programs/" + file_->Look()->name + "/" + std::string(name));
  }
  // Counts folders of programs, and leftovers.
  size_t Entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(Path("home/.cache/galley/programs")))
      ++count;
    return count;
  }

  std::string folder_;
  std::shared_ptr<BundleFile> file_;
};

TEST_F(BundleTest, HoldsTheProgramsTheirLibrariesAndTheLoader) {
  const Bundle bundle = BundleOf(Path("programs")).value();
  std::vector<std::string> names;
  for (const BundledFile& file : bundle.files) names.push_back(file.name);
  EXPECT_THAT(names, testing::IsSupersetOf({std::string("galley"), std::string("galley-worker"),
                                            std::string("lib/libc.so.6"), bundle.loader}));
  EXPECT_THAT(bundle.platform, StartsWith("Linux "));
  EXPECT_EQ(bundle.name, BundleOf(Path("programs"))->name) << "the same files, the same name";
  ASSERT_TRUE(std::filesystem::copy_file("/bin/cat", Path("programs/galley"),
                                         std::filesystem::copy_options::overwrite_existing));
  EXPECT_NE(bundle.name, BundleOf(Path("programs"))->name);
}

TEST_F(BundleTest, RunsFromTheCacheOfTheMachine) {
  const std::string file = file_->Write().value();
  for (int i = 0; i < 2; ++i) {
    const ProgramOutput ended = Run({file, "worker", "--name", "a b"});
    EXPECT_EQ(ended.output, "worker --name a b\n") << ended.errors;
    EXPECT_EQ(ended.errors, "");
    EXPECT_EQ(Entries(), 1u);
  }
  struct stat info {};
  ASSERT_EQ(::stat(There().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u) << "nobody else can change it";
  ASSERT_TRUE(RemoveAll(Path("bundle folder")).ok());
  EXPECT_EQ(Run({There(file_->Look()->loader), "--version"}).exit.code, 0);
}

TEST_F(BundleTest, WhatIsDamagedInTheCacheComesAnew) {
  const std::string file = file_->Write().value();
  Run({file, "worker"});
  ASSERT_TRUE(WriteFileAtomic(There("lib/libc.so.6"), "not a library").ok());
  const ProgramOutput ended = Run({file, "worker"});
  EXPECT_EQ(ended.output, "worker\n") << ended.errors;
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(BundleTest, NothingRunsOfWhatIsNotAsItWasSent) {
  const std::string file = file_->Write().value();
  std::string bytes = ReadFile(file).value();
  bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(Path("damaged"), bytes).ok());
  const ProgramOutput ended = Run({"/bin/sh", Path("damaged"), "worker"});
  EXPECT_EQ(ended.exit.code, 3);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors, HasSubstr("did not come as they were sent, or"));
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(BundleTest, AHomeThatCannotBeWrittenIsNamed) {
  ASSERT_TRUE(WriteFileAtomic(Path("home"), "a file").ok());
  const ProgramOutput ended = Run({file_->Write().value(), "worker"});
  EXPECT_EQ(ended.exit.code, 3);
  EXPECT_THAT(ended.errors, HasSubstr(Path("home/.cache/galley/programs: expected a folder")));
}

// The folder in /tmp is one of the test's own here.
TEST_F(BundleTest, WithoutAHomeItsFolderInTmpIsTheUsersAlone) {
  std::string text = BundleScript(*file_->Look());
  for (size_t at = text.find("/tmp/galley-"); at != std::string::npos;
       at = text.find("/tmp/galley-", at))
    text.replace(at, std::string("/tmp/galley-").size(), Path("of-"));
  ASSERT_TRUE(WriteFileAtomic(Path("script"), text + "\necho in $galley_home\n").ok());
  const auto run = [&] {
    return RunToEnd({.argv = {"/bin/sh", Path("script")},
                     .environment = {"PATH=/usr/bin:/bin"},
                     .inherit_environment = false,
                     .with_errors = true})
        .value();
  };
  const std::string place = Path(fmt::format("of-{}", ::getuid()));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run().output, "in " + place + "/galley\n");
  const auto expect_refusal = [&](const std::string& what) {
    const ProgramOutput refused = run();
    EXPECT_EQ(refused.exit.code, 3) << what;
    EXPECT_EQ(refused.output, "") << what;
    EXPECT_THAT(refused.errors, HasSubstr(place + ": expected a folder, and no link, that user"));
    EXPECT_THAT(refused.errors, HasSubstr("set HOME or XDG_CACHE_HOME")) << what;
  };
  ASSERT_EQ(::chmod(place.c_str(), 0755), 0);
  expect_refusal("others may enter it");
  ASSERT_EQ(::chmod(place.c_str(), 0700), 0);
  ASSERT_EQ(::rename(place.c_str(), Path("other").c_str()), 0);
  ASSERT_EQ(::symlink(Path("other").c_str(), place.c_str()), 0);
  expect_refusal("a link");
  ASSERT_EQ(::unlink(place.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(place, "").ok());
  expect_refusal("a file");
  if (::getuid() != 0) return;
  ASSERT_EQ(::unlink(place.c_str()), 0);
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  ASSERT_EQ(::chown(place.c_str(), 65534, 65534), 0);
  expect_refusal("somebody else's");
}

TEST_F(BundleTest, AnotherProcessorIsNamed) {
  Bundle bundle = file_->Look().value();
  bundle.platform = "Linux riscv64";
  const ProgramOutput ended = Script(BundleScript(bundle));
  EXPECT_EQ(ended.exit.code, 3);
  EXPECT_THAT(ended.errors,
              HasSubstr("the programs are for Linux riscv64, and this machine is Linux"));
}

TEST_F(BundleTest, OthersInItsFolderGoWhenItIsWritten) {
  ASSERT_TRUE(CreateDirectories(Path("bundle folder")).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("bundle folder/galley-0123"), "of another build").ok());
  const std::string file = file_->Write().value();
  EXPECT_FALSE(StatFile(Path("bundle folder/galley-0123")).ok());
  EXPECT_EQ(file_->Write().value(), file);
}

TEST_F(BundleTest, ASlurmScriptTakesItFromTheSharedPath) {
  const auto slurm =
      SlurmSystem({.slots = 2, .bundle = file_, .bundle_folder = Path("bundle folder")}, {});
  ASSERT_TRUE(slurm->Prepare().ok());
  const std::string script =
      slurm->Submit({.name = "galley-x", .count = 1, .ticket = "the ticket"}).input;
  EXPECT_LT(script.size(), 64u << 10) << "the programs are not in it";
  const ProgramOutput ended = Script(script);
  EXPECT_THAT(ended.output, StartsWith("worker --ticket - --slots 2 --index ")) << ended.errors;
  ASSERT_TRUE(RemoveAll(Path("bundle folder")).ok());
  EXPECT_EQ(Script(script).output, ended.output) << "the machine has it by now";
  ASSERT_TRUE(RemoveAll(Path("home")).ok());
  const ProgramOutput lost = Script(script);
  EXPECT_EQ(lost.exit.code, 3);
  EXPECT_THAT(lost.errors, HasSubstr("shared_path has to be the project itself"));
}

TEST_F(BundleTest, ForAnyCommandItIsAProgram) {
  const auto system = CommandSystem({.bundle = file_}, "q {program}", "", "");
  ASSERT_TRUE(system->Prepare().ok());
  EXPECT_EQ(system->Submit({}).argv.back(), fmt::format("q '{}'", file_->Write().value()));
}

TEST(RemoteWorkerTest, ATextReachesTheShellAsItIs) {
  const std::string text =
      "printf '%s|' \"a\\nb\" 'it'\\''s!' \"$((1 + 1))\"\ncat <<'END'\n\\0\\n %b\nEND\n";
  const auto direct = RunToEnd({.argv = {"/bin/sh", "-c", text}});
  const auto quoted = RunToEnd({.argv = {"/bin/sh", "-c", CommandOfText(text)}});
  ASSERT_TRUE(direct.ok() && quoted.ok());
  EXPECT_EQ(quoted->output, direct->output);
  EXPECT_EQ(CommandOfText(text).find('\n'), std::string::npos) << "csh takes no lines' ends";
}

}  // namespace
}  // namespace galley::director
