// CooksStage: a cluster in which several cooks run beside each other, for the simulation of several
// cooks (several_cooks.h): people and their troubles, and how each cook ended.
//
// A calm stage has no troubles: it tells how a cook should end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/class_bounds.h"
#include "tests/simulation/cluster_impl.h"

namespace galley::simulation {

// CookEnding: what one cook came to, as text.
struct CookEnding {
  bool is_over = false;
  bool is_whole = false;  // it ended by itself, with nothing left out
  std::map<director::PlatformIndex, std::string> roots;
  std::set<std::string> failures;
  std::set<std::string> warnings;
  std::set<std::string> members;  // the packages of which it was told
  bool was_opened_after_publishing = false;
};

// How `among` (a cook among others, or what stands) differs from the same cook alone; empty: they
// agree in everything that a cook tells for good.
std::string DifferenceOf(const CookEnding& alone, const CookEnding& among,
                         const director::CookRequested& request);

class CooksStage : public Cluster {
 public:
  struct Options {
    uint64_t seed = 0;
    uint32_t cooks_max = 1;
    bool is_calm = true;
    bool has_classes = true;  // urgent cooks get their share
    bool is_told = false;
  };
  // Counts: how often things happened.
  struct Counts {
    uint64_t at_once = 0;      // the most cooks at a time
    uint64_t shared = 0;       // results that were told to more than one cook
    uint64_t crashes = 0;      // of directors, with cooks that were not over
    uint64_t resumed = 0;      // attempts that a later director took up
    uint64_t made_again = 0;   // results whose bytes were lost
    uint64_t apart = 0;        // roots published while a cook of other files published its own
    uint64_t handed_over = 0;  // jobs
    uint64_t moved = 0;        // of them, jobs that had been in somebody's hand until then
  };
  CooksStage(const Options& options, World world);

  void Ask(const director::CookOrder& order);
  void Cancel(uint64_t request);
  void Edit();
  void LoseAWorker();
  void BreakAStream();
  void LoseSome();
  // The director dies; after a while there is another director.
  void Crash();

  // Runs until `requests` cooks were asked for and have ended, or something is wrong.
  void RunUntilOver(uint64_t requests);
  void RunFor(absl::Duration duration);
  // Checks that nothing is left when workers have said all. REQUIRES: all cooks have ended.
  void CheckNothingIsLeft();
  const std::map<uint64_t, CookEnding>& endings() const { return endings_; }
  // The project from which the cook's roots were built.
  World WorldOf(uint64_t request) const { return world_->AsOf(settled_.at(request).files); }
  // The packages in the cook's root, as far as they were looked at.
  const std::vector<std::string>& InRoot(uint64_t request, director::PlatformIndex platform) const {
    return settled_.at(request).named.at(platform);
  }
  uint64_t edits() const { return edits_; }
  const Counts& counts() const { return counts_; }
  Schedule& schedule() { return schedule_; }
  Checks& checks() { return checks_; }

 protected:
  void RequestCook() override;
  void OnEnded(const director::CookEnded& ended,
               const std::map<std::string, Digest>& published) override;
  void OnStepped(const director::Event& event, std::span<const director::Effect> effects) override;
  void RunUntil(const std::function<bool()>& is_over, const std::string& otherwise);
  // The cook hears the notice.
  virtual void Take(uint64_t request, const director::Notice& notice);
  // The last cook of which all is written down.
  uint64_t closed() const { return closed_; }

 private:
  using Failing = std::map<std::pair<std::string, director::PlatformIndex>, std::string>;
  struct Settled {
    uint32_t round = 0;
    bool is_difference = false;
    Files files;
    std::map<director::PlatformIndex, std::vector<std::string>> named;
  };

  bool IsOver() const;
  bool AreWorkersIdle() const;
  Body* AnyBody();
  void HearOf(const director::Desire& effect);
  void HearOf(const director::Persist& effect);
  void HearOf(const director::BuildRoot& effect);
  void HearOf(const director::PublishRoot& effect);
  void HearOf(const director::Notify& effect);
  template <typename Other>
  void HearOf(const Other&) {}
  void NoteEvent(const director::Event& event);
  void NoteAsks(const director::Event& event, std::span<const director::Effect> effects);
  bool WasRefused(const director::StoredResult& stored) const;
  void NoteOver(const director::WorkerReport& report);
  void LookAtClasses(std::span<const director::Effect> effects);
  void CheckSpareJobs(std::span<const director::Effect> effects);
  void NoteEnded(const director::CookEnded& ended);

  const Options stage_;
  std::unique_ptr<ClassBounds> bounds_;
  std::map<uint64_t, director::CookOrder> asked_;
  std::map<uint64_t, CookEnding> endings_;
  std::map<uint64_t, Settled> settled_;
  std::map<uint64_t, Failing> failing_;
  std::map<uint64_t, std::set<std::pair<std::string, director::PlatformIndex>>> told_done_;
  std::set<uint64_t> cancelled_;
  std::map<director::CookSlot, uint64_t> slots_;
  struct InHand {
    director::WorkerId worker;
    director::PackageId package;
    director::PlatformMask platforms = 0;  // without a result
    bool is_spare = false;                 // when it was handed over
    bool has_left_slot = false;
  };
  std::map<director::AttemptId, InHand> in_hand_;
  struct OpenAsk {
    director::PackageId package;
    bool is_ahead = false;
  };
  std::map<uint64_t, OpenAsk> open_asks_;                // of the core
  std::map<director::WorkerId, uint32_t> worker_slots_;  // of all that attached
  uint64_t edits_ = 0, closed_ = 0;
  // Results that came and are not acknowledged yet, by worker and report.
  std::map<std::pair<director::WorkerId, director::ReportId>, director::StoredResultPtr> came_;
  // Packages and platforms: some result is on its way to be durable; some result is durable.
  std::set<std::pair<std::string, director::PlatformIndex>> committing_, committed_;
  std::set<std::string> has_failed_;
  bool are_renumbered_ = false;  // the platforms, by the present director
  Counts counts_;
};

}  // namespace galley::simulation
