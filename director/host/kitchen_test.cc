#include "director/host/kitchen.h"

#include <sys/stat.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/record/cooker_description.h"
#include "director/host/fake_listener.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// A project in a folder of its own, whose worker is a script that only describes itself.
class KitchenTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "kitchen").value();
    ASSERT_TRUE(CreateDirectories(JoinPath(folder_, "content")).ok());
    Write("worker", fmt::format("#!/bin/sh\ncat <<'END'\n{}\nEND\n",
                                record::EncodeDescriptions({{.name = "copy", .identity = "1"}})));
    ASSERT_EQ(::chmod(JoinPath(folder_, "worker").c_str(), 0755), 0);
    auto director =
        Director::Open({.project = Load(""),
                        .worker_program = JoinPath(folder_, "worker"),
                        .environment = {},
                        .hold = {.check = [](const std::string&) { return absl::OkStatus(); }}},
                       listener_, stop_);
    ASSERT_TRUE(director.ok()) << director.status();
    director_ = *std::move(director);
    kitchen_ = std::make_unique<Kitchen>(Kitchen::Deps{.director = *director_, .trace = trace_});
  }
  void TearDown() override {
    kitchen_.reset();
    director_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, name), text).ok());
  }
  std::shared_ptr<const project::Project> Load(const std::string& more) const {
    Write("galley.toml",
          "[project]\nname = \"tower\"\n[[mount]]\npath = \"/Game\"\ndir = \"content\"\n"
          "[[platform]]\nname = \"pc\"\n" +
              more);
    return std::make_shared<const project::Project>(
        project::LoadProject({.directory = folder_, .environment = {}, .overrides = {}}).value());
  }
  Kitchen::Needs NeedsOf(const std::string& more, ProjectCatalog::Options table = {}) const {
    auto setup = std::make_shared<director::Setup>(*director_->setup());
    setup->project = Load(more);
    return {.setup = std::move(setup), .table = std::move(table)};
  }
  using PlacePtr = std::unique_ptr<Kitchen::Place>;
  PlacePtr Enter(uint64_t cook, const Kitchen::Needs& needs) {
    return kitchen_->Enter(cook, CookClass::kNightly, needs, stop_, [] {}).value();
  }
  // The cook enters as soon as it may. Returns when it waits.
  std::future<PlacePtr> Wait(uint64_t cook, CookClass of_class, const Kitchen::Needs& needs) {
    auto waits = std::make_shared<std::promise<void>>();
    std::future<void> told = waits->get_future();
    std::future<PlacePtr> place = std::async(std::launch::async, [=, this] {
      auto entered = kitchen_->Enter(cook, of_class, needs, stop_, [waits] { waits->set_value(); });
      return entered.ok() ? *std::move(entered) : nullptr;
    });
    told.wait();
    return place;
  }

  std::string folder_;
  FakeListener listener_;
  Cancellation stop_;
  Trace trace_;
  std::unique_ptr<Director> director_;
  std::unique_ptr<Kitchen> kitchen_;
};

TEST_F(KitchenTest, CooksGoTogetherThatDifferInWhatAWorldHas) {
  const Kitchen::Needs plain = NeedsOf("");
  EXPECT_TRUE(plain.GoWith(NeedsOf("[[rule]]\nmatch = \"/Game/**\"\ncooker = \"copy\"\n")));
  EXPECT_TRUE(
      plain.GoWith(NeedsOf("[cook]\nmaps = [\"/Game/*.level\"]\nnever = [\"/Game/x/**\"]\n")));
  EXPECT_TRUE(plain.GoWith(NeedsOf("texture = \"bc\"\n"))) << "the platform is another";
  EXPECT_TRUE(plain.GoWith(NeedsOf("[[platform]]\nname = \"deck\"\n")));
  EXPECT_TRUE(plain.GoWith(NeedsOf("[[mount]]\npath = \"/Dlc\"\ndir = \"content\"\n")));
  EXPECT_FALSE(plain.GoWith(NeedsOf("[resources]\ngpu = 1\n")));
  EXPECT_FALSE(plain.GoWith(NeedsOf("[farm]\nslots = 3\n")));
  EXPECT_FALSE(plain.GoWith(NeedsOf("", {.never = {"/Game/x/**"}})));
  EXPECT_FALSE(plain.GoWith(NeedsOf("", {.cultures = {"de"}})));
  EXPECT_FALSE(plain.GoWith({})) << "that one is alone";
}

TEST_F(KitchenTest, OneThatNeedsSomethingElseWaitsAndIsNotOvertakenByItsClass) {
  const Kitchen::Needs plain = NeedsOf(""), other = NeedsOf("", {.never = {"/Game/x/**"}});
  PlacePtr first = Enter(1, plain), second = Enter(2, plain);
  std::future<PlacePtr> third = Wait(3, CookClass::kNightly, other);
  std::future<PlacePtr> fourth = Wait(4, CookClass::kNightly, plain);
  std::future<PlacePtr> urgent = Wait(5, CookClass::kNow, other);
  first.reset();
  second.reset();
  // The higher class is first, and the one that needs the same goes with it.
  PlacePtr of_urgent = urgent.get(), of_third = third.get();
  EXPECT_EQ(of_urgent->cook(), 5u);
  EXPECT_EQ(of_third->cook(), 3u);
  of_urgent.reset();
  of_third.reset();
  EXPECT_EQ(fourth.get()->cook(), 4u);
}

TEST_F(KitchenTest, SeveralWithoutANumberWaitOneAfterAnother) {
  PlacePtr first = Enter(0, {});
  std::future<PlacePtr> second = Wait(0, CookClass::kNow, {}), third = Wait(0, CookClass::kNow, {});
  first.reset();
  second.get().reset();
  EXPECT_NE(third.get(), nullptr);
}

TEST_F(KitchenTest, OneThatIsStoppedWaitsNoLonger) {
  const PlacePtr first = Enter(1, {});
  std::future<PlacePtr> second = Wait(2, CookClass::kNow, {});
  stop_.Cancel();
  EXPECT_EQ(second.get(), nullptr);
}

}  // namespace
}  // namespace galley::director
