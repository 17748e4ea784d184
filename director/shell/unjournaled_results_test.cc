// UnjournaledResultsTest: the journal and these results together tell each package that a new
// snapshot affects, once.
#include "director/shell/unjournaled_results.h"

#include <memory>
#include <variant>

#include "director/core/cook_core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AllFiles : public Catalog {
 public:
  std::optional<CatalogEntry> Find(std::string_view) const override { return CatalogEntry(); }
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  CatalogEntry Generated(std::string_view, std::string_view, std::string_view) const override {
    return {};
  }
  ReferenceTarget Resolve(std::string_view, std::string_view written) const override {
    return {.name = std::string(written), .error = ""};
  }
};

// A shell with the package P, one worker, and commits that wait.
class UnjournaledResultsTest : public testing::Test {
 protected:
  UnjournaledResultsTest() : core_({}, std::make_shared<AllFiles>()) {
    Step(CookRequested{.platforms = 1,
                       .selected = {{"P", InstigatorCategory::kCommandLinePackage}}});
    Step(Tick{});
  }

  void Step(const Event& event) {
    std::vector<Effect> effects;
    core_.Step(absl::UnixEpoch(), event, effects);
    for (const Effect& effect : effects) {
      if (const auto* look_up = std::get_if<LookUp>(&effect)) {
        const LookUp::Item& item = look_up->items[0];
        Step(LookedUp{{{item.package, 0, item.generation, LookedUp::Miss{}}}});
      } else if (const auto* spawn = std::get_if<Spawn>(&effect)) {
        Step(WorkerAttached{spawn->worker, 1, {}});
      } else if (const auto* desire = std::get_if<Desire>(&effect)) {
        if (!desire->start.empty()) job_ = desire->start[0];
      } else if (const auto* persist = std::get_if<Persist>(&effect)) {
        unjournaled_.Add(*persist);
        for (const Persist::Item& item : persist->items)
          persisted_.items.push_back({item.package, item.platform, item.result, nullptr, ""});
      }
    }
  }

  // Reports as ReportReader does: with another result each time.
  ResultId Report(ReportId report) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = "P";
    const ResultViewPtr view = results_.Add(std::move(stored));
    Step(WorkerReported{
        WorkerId(0),
        {{report, job_.attempt, WorkerReport::Saved{0, view, absl::Milliseconds(1)}}}});
    return view->id;
  }

  void Commit() {
    unjournaled_.Remove(persisted_);
    Step(std::exchange(persisted_, {}));
  }

  // Returns the outdated packages in a snapshot in which no result holds.
  std::vector<std::string> Outdated() const {
    return unjournaled_.Outdated([](const StoredResult&) { return false; });
  }

  CookCore core_;
  Desire::Start job_;
  ResultTable results_;
  UnjournaledResults unjournaled_{&results_};
  Persisted persisted_;
};

TEST_F(UnjournaledResultsTest, AResultIsOneUntilItIsCommitted) {
  Report(1);
  EXPECT_THAT(Outdated(), ElementsAre("P"));
  EXPECT_THAT(unjournaled_.Outdated([](const StoredResult&) { return true; }), IsEmpty());
  Commit();
  EXPECT_THAT(Outdated(), IsEmpty());
}

// The worker's stream broke before the worker heard that the report was seen, or persisted.
TEST_F(UnjournaledResultsTest, OfADoubledReportTheCoreKeepsNothingAndNoSuccessorIsTroubledByIt) {
  Report(1);
  Report(1);
  EXPECT_THAT(Outdated(), ElementsAre("P")) << "the first successor: once";
  Commit();
  EXPECT_THAT(Outdated(), IsEmpty()) << "the second";
  Report(1);
  EXPECT_THAT(Outdated(), IsEmpty());
}

TEST_F(UnjournaledResultsTest, NorOfOneThatComesTooLate) {
  Report(1);
  Commit();
  Report(2);
  EXPECT_EQ(core_.counters().results_dropped, 1u);
  EXPECT_THAT(Outdated(), IsEmpty());
}

TEST_F(UnjournaledResultsTest, WhatWasFoundInTheJournalIsNone) {
  auto stored = std::make_shared<StoredResult>();
  stored->is_in_journal = true;
  const ResultId id = results_.Add(std::move(stored))->id;
  unjournaled_.Add(Persist{{{PackageId(0), 0, id}}});
  EXPECT_THAT(Outdated(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
