#include "director/shell/resolved_packages.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <utility>

#include "common/content/testing/test_tree.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Files with a sidecar, and *.txt, are packages. The error of a package is that of its file, and
// the text of its sidecar.
class ResolvedPackagesTest : public content::ContentTest {
 protected:
  // A snapshot and its packages.
  struct State {
    std::shared_ptr<content::Snapshot> snapshot;
    std::unique_ptr<ResolvedPackages> packages;
  };
  using StatePtr = std::unique_ptr<State>;

  StatePtr StateOf(std::shared_ptr<content::Snapshot> snapshot) {
    auto state = std::make_unique<State>();
    state->snapshot = std::move(snapshot);
    state->packages = std::make_unique<ResolvedPackages>(
        *state->snapshot,
        [this, of = state->snapshot.get()](const content::FileEntry& file,
                                           const content::FileEntry* sidecar) {
          resolved_.push_back(file.path);
          return Resolve(*of, file, sidecar);
        },
        /*threads=*/1);
    return state;
  }
  StatePtr First() { return StateOf(Scan()); }
  StatePtr Next(const State& before, const std::vector<std::string>& looked_at) {
    StatePtr state = StateOf(before.snapshot->Refresh(looked_at).value());
    state->packages->TakeOver(*before.packages, looked_at);
    return state;
  }

  static ResolvedFile Resolve(content::Snapshot& snapshot, const content::FileEntry& file,
                              const content::FileEntry* sidecar) {
    ResolvedFile resolved;
    std::string text;
    if (sidecar != nullptr) {
      const auto content = snapshot.Read(sidecar->path);
      resolved.is_sidecar_unread = !content.ok();
      text = content.ok() ? *content->bytes : "unread";
    }
    if (text == "wrong") resolved.errors = {"wrong", file.path + " is wrong"};
    if (sidecar != nullptr || file.path.ends_with(".txt"))
      resolved.package = ResolvedPackage{.error = file.error + text};
    return resolved;
  }

  // The error of a package; "(none)": there is no such package.
  static std::string Error(const State& state, std::string_view name) {
    const ResolvedPackage* const package = state.packages->Find(name);
    return package == nullptr ? "(none)" : package->error;
  }
  std::vector<std::string> TakeResolved() { return std::exchange(resolved_, {}); }
  void Remove(std::string_view path) { std::filesystem::remove_all(Host(path)); }

  std::vector<std::string> resolved_;  // since TakeResolved, in order
};

TEST_F(ResolvedPackagesTest, APackageIsResolvedOnTheFirstQuestionAboutIt) {
  Write("content/a.txt", "");
  Write("content/b.md", "");
  const StatePtr state = First();
  EXPECT_THAT(resolved_, IsEmpty());
  EXPECT_EQ(Error(*state, "/Game/a.txt"), "");
  EXPECT_EQ(Error(*state, "/Game/a.txt"), "");
  EXPECT_EQ(Error(*state, "/Game/b.md"), "(none)");
  EXPECT_EQ(Error(*state, "/Game/b.md"), "(none)");
  EXPECT_EQ(Error(*state, "/Game/absent"), "(none)");
  EXPECT_THAT(TakeResolved(), ElementsAre("/Game/a.txt", "/Game/b.md"));
}

TEST_F(ResolvedPackagesTest, AfterAChangeOnlyFilesWithOtherSidecarsAreResolvedAgain) {
  for (const char* name : {"a", "b", "c"}) Write(fmt::format("content/{}.txt", name), "1");
  Write("content/d", "1");
  const StatePtr first = First();
  EXPECT_THAT(first->packages->TakeAll().names,
              ElementsAre("/Game/a.txt", "/Game/b.txt", "/Game/c.txt"));
  (void)TakeResolved();

  Write("content/a.txt", "2");
  const StatePtr bytes = Next(*first, {"/Game/a.txt"});
  EXPECT_EQ(&bytes->packages->TakeAll(), &first->packages->TakeAll()) << "the same list";

  Write("content/a.txt.cook", "x");
  Write("content/d.cook", "wrong");
  Remove("content/b.txt");
  const StatePtr second =
      Next(*bytes, {"/Game/a.txt.cook", "/Game/b.txt", "/Game/d.cook", "/Game/e.txt"});
  EXPECT_EQ(Error(*second, "/Game/a.txt"), "x");
  EXPECT_EQ(Error(*second, "/Game/b.txt"), "(none)");
  EXPECT_EQ(Error(*second, "/Game/c.txt"), "");
  EXPECT_THAT(second->packages->TakeAll().names,
              ElementsAre("/Game/a.txt", "/Game/c.txt", "/Game/d"));
  EXPECT_THAT(second->packages->TakeAll().errors, ElementsAre("wrong", "/Game/d is wrong"));
  EXPECT_THAT(TakeResolved(), UnorderedElementsAre("/Game/a.txt", "/Game/d"));
  EXPECT_EQ(Error(*first, "/Game/a.txt"), "") << "an earlier world stays as it was";

  Write("content/d.cook", "right");
  const StatePtr third = Next(*second, {"/Game/d.cook"});
  EXPECT_THAT(third->packages->TakeAll().errors, IsEmpty());
  EXPECT_THAT(TakeResolved(), ElementsAre("/Game/d"));
}

TEST_F(ResolvedPackagesTest, FilesThatWereAskedForOneByOneAreShared) {
  for (const char* name : {"a", "b", "c"}) Write(fmt::format("content/{}.txt", name), "");
  const StatePtr first = First();
  EXPECT_EQ(Error(*first, "/Game/a.txt"), "");
  Write("content/b.txt.cook", "x");
  const StatePtr second = Next(*first, {"/Game/b.txt.cook"});
  EXPECT_EQ(Error(*second, "/Game/b.txt"), "x");
  EXPECT_EQ(Error(*second, "/Game/c.txt"), "");
  Write("content/a.txt.cook", "y");
  const StatePtr third = Next(*second, {"/Game/a.txt.cook"});
  EXPECT_EQ(Error(*third, "/Game/a.txt"), "y");
  EXPECT_EQ(Error(*third, "/Game/b.txt"), "x");
  EXPECT_EQ(Error(*third, "/Game/c.txt"), "");
  EXPECT_EQ(Error(*first, "/Game/a.txt"), "");
  EXPECT_EQ(Error(*first, "/Game/c.txt"), "") << "its successor has resolved this one";
  EXPECT_THAT(TakeResolved(),
              ElementsAre("/Game/a.txt", "/Game/b.txt", "/Game/c.txt", "/Game/a.txt"));
}

TEST_F(ResolvedPackagesTest, ATwinThatComesOrGoesChangesTheErrorOfTheOther) {
  Write("content/a.txt", "");
  Write("content/b.txt", "");
  Write("content/b.txt.cook", "x");
  const StatePtr first = First();
  (void)first->packages->TakeAll();
  (void)TakeResolved();
  Write("content/A.txt", "");
  Write("content/B.txt.cook", "");
  const StatePtr second = Next(*first, {"/Game/A.txt", "/Game/B.txt.cook"});
  EXPECT_THAT(Error(*second, "/Game/a.txt"), HasSubstr("/Game/A.txt"));
  EXPECT_EQ(Error(*second, "/Game/b.txt"), "unread") << "its sidecar has a twin";
  EXPECT_TRUE(second->packages->HasUnreadSidecars());
  Remove("content/A.txt");
  Remove("content/B.txt.cook");
  const StatePtr third = Next(*second, {"/Game/A.txt", "/Game/B.txt.cook"});
  EXPECT_EQ(Error(*third, "/Game/a.txt"), "");
  EXPECT_EQ(Error(*third, "/Game/b.txt"), "x");
  EXPECT_FALSE(third->packages->HasUnreadSidecars());
}

TEST_F(ResolvedPackagesTest, ASidecarThatWasUnreadStaysSoUntilItIsLookedAtAgain) {
  Write("content/a.txt", "");
  Write("content/a.txt.cook", "x");
  Write("content/b.txt", "1");
  const StatePtr first = First();
  Write("content/a.txt.cook", "other");  // the snapshot has other stamps
  EXPECT_EQ(Error(*first, "/Game/a.txt"), "unread");
  Write("content/b.txt", "2");
  const StatePtr second = Next(*first, {"/Game/b.txt"});
  EXPECT_TRUE(second->packages->HasUnreadSidecars());
  const StatePtr third = Next(*second, {"/Game/a.txt.cook"});
  EXPECT_FALSE(third->packages->HasUnreadSidecars());
  EXPECT_EQ(Error(*third, "/Game/a.txt"), "other");
}

TEST_F(ResolvedPackagesTest, ManySmallChangesResolveEachFileOnce) {
  constexpr size_t kFiles = ResolvedPackages::kRefreshedMin + 50;
  const auto file = [](size_t i) { return fmt::format("{:03}.txt", i); };
  for (size_t i = 0; i < kFiles; ++i) Write("content/" + file(i), "");
  for (const bool takes_all : {true, false}) {
    StatePtr state = First();
    if (takes_all) (void)state->packages->TakeAll();
    for (size_t i = 0; i < kFiles; ++i) EXPECT_EQ(Error(*state, "/Game/" + file(i)), "");
    EXPECT_EQ(TakeResolved().size(), kFiles);
    for (size_t i = 0; i < kFiles; ++i) {
      Write("content/" + file(i) + ".cook", "x");
      state = Next(*state, {"/Game/" + file(i) + ".cook"});
      EXPECT_EQ(Error(*state, "/Game/" + file(i)), "x");
    }
    for (size_t i = 0; i < kFiles; ++i) EXPECT_EQ(Error(*state, "/Game/" + file(i)), "x");
    EXPECT_EQ(TakeResolved().size(), kFiles);
    for (size_t i = 0; i < kFiles; ++i) Remove("content/" + file(i) + ".cook");
  }
}

TEST_F(ResolvedPackagesTest, AFolderOfTooManyFilesTakesNothingOver) {
  for (size_t i = 0; i <= ResolvedPackages::kRefreshedMin; ++i)
    Write(fmt::format("content/many/{}.txt", i), "");
  Write("content/a.txt", "");
  const StatePtr first = First();
  EXPECT_EQ(Error(*first, "/Game/a.txt"), "");
  Write("content/many/new.txt", "");
  const StatePtr second = Next(*first, {"/Game/many"});
  EXPECT_EQ(Error(*second, "/Game/a.txt"), "");
  EXPECT_EQ(Error(*second, "/Game/many/new.txt"), "");
  EXPECT_THAT(TakeResolved(), ElementsAre("/Game/a.txt", "/Game/a.txt", "/Game/many/new.txt"));
}

class RefreshedNamesTest : public ResolvedPackagesTest {
 protected:
  std::vector<std::string> Names(const content::Snapshot& before,
                                 const std::vector<std::string>& looked_at) {
    const auto now = before.Refresh(looked_at).value();
    return RefreshedNames(before, *now, looked_at, 100).value();
  }
};

TEST_F(RefreshedNamesTest, BytesOfAFileAreNotResolvedAndASidecarsAre) {
  Write("content/a.txt", "1");
  Write("content/a.txt.cook", "1");
  Write("content/b.txt", "1");
  const auto before = Scan();
  Write("content/b.txt", "2");
  EXPECT_THAT(Names(*before, {"/Game/b.txt"}), IsEmpty());
  Write("content/a.txt.cook", "2");
  EXPECT_THAT(Names(*before, {"/Game/b.txt", "/Game/a.txt.cook"}), ElementsAre("/Game/a.txt"));
}

TEST_F(RefreshedNamesTest, AFolderNamesWhatWasAndWhatIsBelowIt) {
  for (const char* path : {"a/b.txt", "a/c/d.txt.cook", "a.txt", "b/e.txt"})
    Write(std::string("content/") + path, "");
  const auto before = Scan();
  Remove("content/a/c");
  Write("content/a/new.txt", "");
  EXPECT_THAT(Names(*before, {"/Game/a"}), ElementsAre("/Game", "/Game/a", "/Game/a/b.txt",
                                                       "/Game/a/c/d.txt", "/Game/a/new.txt"));
}

TEST_F(RefreshedNamesTest, AFileOfAModHidesAFolderAndShowsItAgain) {
  Write("content/a/b.txt", "");
  Write("mod/c.txt", "");
  Mount("/Game", "mod", 5);
  const auto before = Scan();
  Write("mod/a", "");
  EXPECT_THAT(Names(*before, {"/Game/a"}), ElementsAre("/Game", "/Game/a", "/Game/a/b.txt"));
  const auto hidden = before->Refresh(std::vector<std::string>{"/Game/a"}).value();
  EXPECT_EQ(hidden->Find("/Game/a/b.txt"), nullptr);
  Remove("mod/a");
  EXPECT_THAT(Names(*hidden, {"/Game/a"}), ElementsAre("/Game", "/Game/a", "/Game/a/b.txt"));
}

TEST_F(RefreshedNamesTest, AFileWhoseNameCannotBeAPathIsLookedAtWithItsFolder) {
  Write("content/a/b.txt", "");
  const auto before = Scan();
  Write("content/a/c\n.txt", "");
  EXPECT_THAT(Names(*before, {"/Game/a/c\n.txt"}), testing::Contains("/Game/a/b.txt"));
  const auto now = before->Refresh(std::vector<std::string>{"/Game/a/c\n.txt"}).value();
  EXPECT_EQ(RefreshedNames(*before, *now, std::vector<std::string>{"/Game/a/c\n.txt"}, 1),
            std::nullopt)
      << "there are more";
}

}  // namespace
}  // namespace galley::director
