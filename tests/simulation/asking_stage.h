// AskingStage: a CooksStage whose project has clients as well. A client acts as a device: it asks
// for one package on one platform (director::PackageAsks), and may leave before it is answered.
//
// When a director dies, its clients ask the next one. These things are checked:
//
//   - Each ask that is not withdrawn ends, once; an ask that was withdrawn is not answered.
//   - A success has exactly the outputs of a clean cook of the world that it names.
//   - A failure is one that a clean cook of that world has, or it is the infrastructure's.
//
// ClassBounds checks that an ask does not wait for the jobs of cooks. The asks have draws of their
// own, so that everything else is planned as without them.
//
// Some clients ask ahead of need, with draws of their own again. What they are told is checked in
// the same way; CooksStage checks that their jobs are in nobody's way.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "director/shell/package_asks.h"
#include "tests/simulation/cooks_stage.h"

namespace galley::simulation {

class AskingStage : public CooksStage {
 public:
  // AskCounts: how often things happened.
  struct AskCounts {
    uint64_t asked = 0;
    uint64_t succeeded = 0;
    uint64_t failed = 0;
    uint64_t withdrawn = 0;
    uint64_t again = 0;  // asks that went on behind a director that died
    uint64_t ahead = 0;  // of `asked`: ahead of need
  };
  AskingStage(const Options& options, World world, uint64_t seed_of_asks);
  ~AskingStage() override;

  // Plans asks for random packages, at random times before, beside and after the cooks.
  void PlanAsks();
  // Runs until all asks have ended. Then files are edited, and clients ask while no cook runs and
  // platforms come and go, until these asks have ended, too. REQUIRES: all cooks have ended.
  void AskAlone();
  const AskCounts& ask_counts() const { return ask_counts_; }

 protected:
  void RequestCook() override;

 private:
  struct Target {
    std::string package;
    std::string platform;
  };
  struct Open {
    Target target;
    bool is_ahead = false;
    uint64_t asker = 0;  // the number that PackageAsks gave; 0: there is no director
  };

  Target RandomTarget();
  Target TargetAmong(const std::vector<std::string>& edited);
  void PlanAhead(uint64_t count, int within_ms);
  Target AheadTarget();
  void BeginNow(const Target& target);
  uint64_t Begin(const Target& target, bool is_ahead);  // returns the ask's number
  void Submit(uint64_t number);
  void Withdraw(uint64_t number);
  void Hear(uint64_t number, const director::AskOutcome& outcome);
  void Check(const Target& target, const director::AskSucceeded& done);
  void Check(const Target& target, const director::AskFailed& failed);
  void Check(const Target& target, const director::AskAborted& aborted);
  void RunUntilAllEnded();
  std::vector<std::string> EditSome();
  void PlanPlatforms();

  Random draws_, ahead_draws_;
  const uint64_t names_;  // the number of packages at first
  uint64_t last_ = 0, planned_ = 0;
  std::map<uint64_t, Open> open_;  // by ask
  Target last_target_;
  bool do_platforms_change_ = false;
  AskCounts ask_counts_;
};

}  // namespace galley::simulation
