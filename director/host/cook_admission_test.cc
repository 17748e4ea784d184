#include "director/host/cook_admission.h"

#include <sys/stat.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/record/cooker_description.h"
#include "director/host/testing/fake_listener.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// CookAdmissionTest: a project in its own folder, with a script as worker that only describes
// itself.
class CookAdmissionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "admission").value();
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
    admission_ = std::make_unique<CookAdmission>(
        CookAdmission::Deps{.director = *director_, .trace = trace_});
  }
  void TearDown() override {
    admission_.reset();
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
  CookAdmission::Needs NeedsOf(const std::string& more) const {
    auto setup = std::make_shared<director::Setup>(*director_->setup());
    setup->project = Load(more);
    return {.setup = std::move(setup)};
  }
  using PermitPtr = std::unique_ptr<CookPermit>;
  PermitPtr Enter(uint64_t cook, const CookAdmission::Needs& needs) {
    return admission_->Enter(cook, CookClass::kNightly, needs, stop_, [] {}).value();
  }
  // Enters as soon as the admission allows. Returns when the cook waits.
  std::future<PermitPtr> Wait(uint64_t cook, CookClass of_class,
                              const CookAdmission::Needs& needs) {
    auto waits = std::make_shared<std::promise<void>>();
    std::future<void> told = waits->get_future();
    std::future<PermitPtr> permit = std::async(std::launch::async, [=, this] {
      auto entered =
          admission_->Enter(cook, of_class, needs, stop_, [waits] { waits->set_value(); });
      return entered.ok() ? *std::move(entered) : nullptr;
    });
    const WaitLimit limit("a cook that waits for its admission");
    told.wait();
    return permit;
  }
  static PermitPtr PermitOf(std::future<PermitPtr>& cook) {
    const WaitLimit limit("the permit of a cook that waited");
    return cook.get();
  }

  std::string folder_;
  FakeListener listener_;
  Cancellation stop_;
  Trace trace_;
  std::unique_ptr<Director> director_;
  std::unique_ptr<CookAdmission> admission_;
};

TEST_F(CookAdmissionTest, CooksGoTogetherThatDifferInWhatAWorldHas) {
  const CookAdmission::Needs plain = NeedsOf("");
  EXPECT_TRUE(plain.GoWith(NeedsOf("[[rule]]\nmatch = \"/Game/**\"\ncooker = \"copy\"\n")));
  EXPECT_TRUE(
      plain.GoWith(NeedsOf("[cook]\nmaps = [\"/Game/*.level\"]\nnever = [\"/Game/x/**\"]\n")));
  EXPECT_TRUE(plain.GoWith(NeedsOf("[cook]\ncultures = [\"de\"]\n")));
  EXPECT_TRUE(plain.GoWith(NeedsOf("texture = \"bc\"\n"))) << "the platform is another";
  EXPECT_TRUE(plain.GoWith(NeedsOf("[[platform]]\nname = \"deck\"\n")));
  EXPECT_TRUE(plain.GoWith(NeedsOf("[[mount]]\npath = \"/Dlc\"\ndir = \"content\"\n")));
  EXPECT_FALSE(plain.GoWith(NeedsOf("[resources]\ngpu = 1\n")));
  EXPECT_FALSE(plain.GoWith(NeedsOf("[farm]\nslots = 3\n")));
  EXPECT_FALSE(plain.GoWith({})) << "that one is alone";
}

TEST_F(CookAdmissionTest, OneThatNeedsSomethingElseWaitsAndIsNotOvertakenByItsClass) {
  const CookAdmission::Needs plain = NeedsOf(""), other = NeedsOf("[farm]\nslots = 3\n");
  PermitPtr first = Enter(1, plain), second = Enter(2, plain);
  std::future<PermitPtr> third = Wait(3, CookClass::kNightly, other);
  std::future<PermitPtr> fourth = Wait(4, CookClass::kNightly, plain);
  std::future<PermitPtr> urgent = Wait(5, CookClass::kNow, other);
  first.reset();
  second.reset();
  // The higher class comes first, and the cook with the same needs comes with it.
  PermitPtr of_urgent = PermitOf(urgent), of_third = PermitOf(third);
  EXPECT_EQ(of_urgent->cook(), 5u);
  EXPECT_EQ(of_third->cook(), 3u);
  of_urgent.reset();
  of_third.reset();
  EXPECT_EQ(PermitOf(fourth)->cook(), 4u);
}

TEST_F(CookAdmissionTest, SeveralWithoutANumberWaitOneAfterAnother) {
  PermitPtr first = Enter(0, {});
  std::future<PermitPtr> second = Wait(0, CookClass::kNow, {}),
                         third = Wait(0, CookClass::kNow, {});
  first.reset();
  PermitOf(second).reset();
  EXPECT_NE(PermitOf(third), nullptr);
}

TEST_F(CookAdmissionTest, DevicesEnterAtOnceBesideCooksOfTheSameNeeds) {
  const CookAdmission::Needs plain = NeedsOf("");
  const PermitPtr cook = Enter(1, plain);
  const auto devices = admission_->EnterForDevices(NeedsOf("texture = \"bc\"\n"), stop_,
                                                   [] { ADD_FAILURE() << "devices had to wait"; });
  ASSERT_TRUE(devices.ok()) << devices.status();
  EXPECT_TRUE(cook->IsAlone()) << "devices are no cook";
  EXPECT_NE(Enter(2, plain), nullptr);
}

TEST_F(CookAdmissionTest, DevicesThatNeedOtherWorkersComeBeforeTheCooksThatWait) {
  const CookAdmission::Needs plain = NeedsOf(""), other = NeedsOf("[farm]\nslots = 3\n");
  PermitPtr first = Enter(1, plain);
  std::promise<void> waits;
  std::future<void> told = waits.get_future();
  auto devices = std::async(std::launch::async, [&] {
    return admission_->EnterForDevices(other, stop_, [&] { waits.set_value(); });
  });
  {
    const WaitLimit limit("devices that wait for their admission");
    told.wait();
  }
  std::future<PermitPtr> second = Wait(2, CookClass::kNow, plain);
  first.reset();
  {
    const WaitLimit limit("the permit of devices that waited");
    auto permit = devices.get();
    ASSERT_TRUE(permit.ok()) << permit.status();
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  }
  EXPECT_EQ(PermitOf(second)->cook(), 2u);
}

TEST_F(CookAdmissionTest, DevicesThatAreStoppedWaitNoLonger) {
  const PermitPtr cook = Enter(1, {});
  stop_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(admission_->EnterForDevices(NeedsOf(""), stop_, [] {}).status()));
}

TEST_F(CookAdmissionTest, OneThatIsStoppedWaitsNoLonger) {
  const PermitPtr first = Enter(1, {});
  std::future<PermitPtr> second = Wait(2, CookClass::kNow, {});
  stop_.Cancel();
  EXPECT_EQ(PermitOf(second), nullptr);
}

}  // namespace
}  // namespace galley::director
