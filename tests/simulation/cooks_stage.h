// CooksStage: one core after the other with the world around them, for the simulation of several
// cooks (several_cooks.h): files, look-ups, commits, roots, people.
//
// A calm one has no chance in what it does but the order of nothing: it says what a cook comes to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "director/core/cook_core.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/class_bounds.h"
#include "tests/simulation/cooks_project.h"
#include "tests/simulation/cooks_store.h"
#include "tests/simulation/cooks_workers.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

// What one cook came to, as text.
struct CookEnding {
  bool is_over = false;
  bool is_whole = false;  // by itself, with nothing left out
  std::map<director::PlatformIndex, std::string> roots;
  std::set<std::string> failures;
  std::set<std::string> warnings;
  std::set<std::string> members;  // that it was told of
  bool was_opened_after_publishing = false;
};

class CooksStage {
 public:
  struct Options {
    uint64_t seed = 0;
    uint32_t cooks_max = 1;
    bool is_calm = true;
    bool has_classes = true;  // who is urgent gets what is his
  };
  // How often it happened.
  struct Counts {
    uint64_t at_once = 0;     // cooks, the most
    uint64_t shared = 0;      // results that more than one cook was told of
    uint64_t crashes = 0;     // of directors, with cooks that were not over
    uint64_t resumed = 0;     // attempts that a later director took up
    uint64_t made_again = 0;  // results, since their bytes were lost
  };

  // What a cook of a difference comes to (CookRequested::standing).
  struct DifferenceRoot {
    director::RootBuilt built;
    std::string text;  // of the whole root
  };
  // Differences: who asks for such cooks builds their roots.
  struct Differences {
    std::function<DifferenceRoot(const director::BuildRoot&)> make;
    std::function<bool()> is_on;  // no root was too narrow
    std::function<void(const director::Notice&)> hear;
  };

  CooksStage(const Options& options, CooksProject project, Checks& checks);

  void Play(Differences differences) { differences_ = std::move(differences); }
  const director::CookCore& core() const { return *core_; }
  const CooksStore& store() const { return store_; }
  const CooksProjectPtr& project() const { return project_; }
  // The results in the cook's root, as far as they were looked at.
  const std::vector<director::ResultId>& InRoot(uint64_t request,
                                                director::PlatformIndex platform) const {
    return settled_.at(request).named.at(platform);
  }

  void Ask(const director::CookRequested& request);
  void Cancel(uint64_t request);
  void Edit();
  void SetProject(CooksProject project);
  void LoseAWorker();
  void BreakAStream() { workers_.BreakAStream(); }
  void LoseSome();
  // The director dies; after a while there is another one.
  void Crash();

  // False: nothing happens any more.
  bool RunNext() { return schedule_.RunNext(); }
  void TellStates();
  bool IsOver() const;
  // All cooks have ended: when workers have said all, nothing is left of it.
  void CheckNothingIsLeft();
  const std::map<uint64_t, CookEnding>& endings() const { return endings_; }
  // The project of which the cook's roots were built.
  const CooksProject& ProjectOf(uint64_t request) const { return *settled_.at(request).project; }
  const Counts& counts() const { return counts_; }
  Schedule& schedule() { return schedule_; }

 private:
  struct Settled {
    uint32_t round = 0;
    CooksProjectPtr project;
    std::map<director::PlatformIndex, std::string> built;
    std::map<director::PlatformIndex, std::vector<director::ResultId>> named;
  };
  // An attempt, as the journal knows it.
  struct Given {
    director::WorkerId worker;
    std::string name;
    director::PlatformMask platforms = 0;
    std::optional<Digest> generated_source;
    std::map<std::pair<std::string, director::PlatformIndex>, director::ResultId> cooked;
    bool is_recorded = false;
    bool is_earlier = false;  // of a director before this one
  };

  void BeginDirector();
  void TakeOver();
  void Say(const std::string& line) { checks_.Trace(std::string_view(line)); }
  void Tell(const std::string& name, const ProjectPackage& package);
  absl::Duration Delay(int64_t ms_max) {
    return options_.is_calm ? absl::Milliseconds(1) : random_.Some(ms_max);
  }
  // In the life of the present director.
  void After(absl::Duration delay, std::function<void()> act);
  void Tick();
  void Step(const director::Event& event);
  void StepOnce(const director::Event& event);

  std::string MadeOf(const CooksProject& project, const std::string& name) const;
  director::LookedUp::Item Answer(const director::LookUp::Item& item,
                                  director::PlatformIndex platform);
  void OnReported(director::WorkerReported reported);
  void LookAtInputs(const Given& given);
  void CheckRefused(director::WorkerId worker, director::ReportId report);

  void Do(const director::Reply&) {}
  void Do(const director::Stop&) {}
  void Do(const director::LookUp& effect);
  void Do(const director::Spawn& effect);
  void Do(const director::Desire& effect);
  void Do(const director::Persist& effect);
  void Do(const director::Rescan& effect);
  void Do(const director::BuildRoot& effect);
  void BuildDifference(const director::BuildRoot& effect);
  void Do(const director::PublishRoot& effect);
  void Do(const director::StageRoots& effect);
  void Do(const director::LookForLost& effect);
  void Do(const director::Notify& effect);
  void Take(uint64_t request, const director::Notice& notice);

  const Options options_;
  Random random_;
  Checks& checks_;
  Schedule schedule_;
  CooksStore store_;
  CooksWorkers workers_;
  CooksProjectPtr project_;
  std::unique_ptr<director::CookCore> core_;  // null: the director is dead
  std::unique_ptr<ClassBounds> bounds_;
  int64_t look_up_ms_max_ = 20;
  uint32_t term_ = 0;
  uint32_t workers_named_ = 0;                  // ids from here on are free
  std::vector<std::function<void()>> waiting_;  // for the next director
  std::map<uint64_t, director::CookRequested> requests_;
  std::map<uint64_t, CookEnding> endings_;
  std::map<uint64_t, Settled> settled_;
  std::map<uint64_t, std::map<std::pair<director::PackageId, director::PlatformIndex>, std::string>>
      failing_;
  std::map<uint64_t, std::set<std::pair<director::PackageId, director::PlatformIndex>>> told_done_;
  std::set<uint64_t> cancelled_;
  std::map<director::CookSlot, uint64_t> slots_;
  std::map<director::AttemptId, Given> given_;
  uint64_t losses_ = 0;  // of the store
  std::map<uint64_t, std::map<std::string, director::CookRequested::Blamed>> blamed_;  // by cook
  // Results that came and are not acknowledged, by worker and report.
  std::map<std::pair<director::WorkerId, director::ReportId>, director::ResultId> came_;
  std::set<std::pair<std::string, director::PlatformIndex>> committing_;
  std::set<std::string> has_failed_;
  Counts counts_;
  Differences differences_;
};

}  // namespace galley::simulation
