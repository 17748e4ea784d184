// OwnFaults: checks how packages fail for their own faults. At most `faults_max` attempts at a
// package end through its own fault, each on another worker as long as there is a worker where none
// did. Then the package is quarantined, and is not tried again before
//   - its content changes (its file, or what it reads), which gives the new content a chance, or
//   - a platform is added, which gives it another chance, or
//   - it is cleared, which forgives all faults, or the next cook begins.
// A fault of an attempt that was given before such a change counts, but does not quarantine the new
// content: a package fails for its own faults only after a fault of its present content.
//
// A fault is counted when a director is told of it: nobody can count the deaths of executors whose
// worker is lost before it reports them. Nor can anybody prevent a death by an attempt that was
// taken back and has not heard so yet, so there may be one death more than allowed. When a director
// dies, the next one does not know faults that were reported but not written, so its count begins
// with what the journal says. Two kinds of faults do not count: a fault that is told to a director
// before it has a cook, although the worker may tell it again; and a fault of an attempt of the
// cook before, if the present cook does not want the package, or not yet.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "director/core/ids.h"
#include "director/journal/journal.h"
#include "tests/simulation/checks.h"

namespace galley::simulation {

class OwnFaults {
 public:
  OwnFaults(uint32_t faults_max, Checks& checks) : faults_max_(faults_max), checks_(checks) {}

  // A director begins. `remembered`: the faults of the cook before, from its journal. `changed`:
  // packages that changed while there was no director.
  void BeginTerm(const std::vector<director::BlameRecord>& remembered,
                 const std::vector<std::string>& changed);
  // A cook begins. A term's first cook goes on with the counts of the cook before.
  void BeginCook();
  void EndCook() { is_cooking_ = false; }

  // `lacks_programs`: packages that start programs cannot be tried on this worker.
  void Attach(const std::string& worker, bool lacks_programs) {
    attached_[worker] = lacks_programs;
  }
  // The worker must end: it takes no more packages, and no package can be tried on it.
  void Drain(const std::string& worker) { attached_.erase(worker); }
  void Lose(const std::string& worker);
  // The package of an attempt; "": nobody gave the attempt.
  std::string PackageOf(director::AttemptId attempt) const;
  // `is_tied`: the package may have to go where it failed before, because a result must be proven
  // on another worker than the one that made it, or because the package asks for what other workers
  // lack.
  void Give(director::AttemptId attempt, const std::string& package, const std::string& worker,
            bool is_tied);
  // The attempt's worker was told that the attempt is not wanted any more, or the worker is given
  // up. The attempt may have begun, and may kill its executor before it hears so.
  void TakeBack(director::AttemptId attempt);
  // The worker reports that the attempt ended through the package's own fault, `what`.
  void Tell(director::AttemptId attempt, const std::string& worker, std::string_view what);
  // The worker reports that the content of the attempt's package changed.
  void TellStale(director::AttemptId attempt, const std::string& worker);

  // The packages have other content from now on.
  void Change(const std::set<std::string>& packages);
  void AddPlatforms();
  void Clear(const std::vector<std::string>& packages);

  // The director counts exactly the faults that it was told of; but its count stays one below the
  // limit until the package's present content had the last fault. `what`: the last fault; "": it is
  // forgiven.
  void CheckBlamed(const std::string& package, uint32_t own_faults, std::string_view what);
  // Faults on a machine may count as one, because workers on other machines are expected; or a
  // worker's report is not believed, because the worker broke the protocol.
  void MayCountLess() { may_count_less_ = true; }
  // The package failed for its own faults.
  void CheckQuarantined(const std::string& package);

 private:
  struct Package {
    uint32_t faults = 0;
    std::string what;  // the last fault
    std::set<std::string> failed_on;
    uint32_t content = 0;         // how often the content changed
    uint32_t chances = 0;         // how often it got a chance, for new content or for a platform
    bool is_condemned = false;    // the last allowed fault was one of its present content
    bool is_quarantined = false;  // it is condemned, and got no chance since
  };
  struct Given {
    std::string package;
    std::string worker;
    uint32_t content = 0;  // the package's content at that time
    uint32_t chances = 0;
    bool is_taken_back = false;
  };
  static void Renew(Package& package);
  static void Forgive(Package& package);
  // nullptr: this worker has no such attempt.
  const Given* GivenTo(director::AttemptId attempt, const std::string& worker) const;

  const uint32_t faults_max_;
  Checks& checks_;
  bool is_cooking_ = false, is_first_cook_ = true, may_count_less_ = false;
  std::map<std::string, Package> packages_;
  std::map<director::AttemptId, Given> given_;
  std::set<director::AttemptId> told_;    // told to this director
  std::map<std::string, bool> attached_;  // worker -> whether it lacks programs
};

}  // namespace galley::simulation
