// OwnFaults: checks how packages fail for their own faults. At most `faults_max` attempts at a
// package end through its own fault, each on another worker while there is one where none did; then
// the package is quarantined, and is not tried again before
//   - what it is made of changes (its file, or what it reads), which gives the new content one
//     chance, or
//   - a platform is added, which gives it one more, or
//   - it is cleared, which forgives all, or the next cook begins.
// A fault of an attempt that was given before such a change counts, but does not quarantine the new
// content: a package fails for its own faults only after one of its present content.
//
// A fault is counted once, when a director is told of it: nobody can count the deaths of executors
// whose worker is lost before it reports them. Nor can anybody prevent a death by an attempt that
// was taken back and has not heard so yet: that is one more than is allowed. When a director dies,
// the next one does not know the faults that were reported and not yet written, so the count begins
// there with what the journal says. A fault of which a director is told before it has a cook counts
// for none, although its worker may tell it again; and one of an attempt of the cook before counts
// for none where the present cook does not want the package, or not yet.
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

  // A director begins, with the faults that its journal remembers of the cook before it. `changed`:
  // packages that changed while there was no director.
  void BeginTerm(const std::vector<director::BlameRecord>& remembered,
                 const std::vector<std::string>& changed);
  // The first cook of a term goes on with the counts of the one before.
  void BeginCook();
  void EndCook() { is_cooking_ = false; }

  // `lacks_programs`: it is none where a package that starts programs could be tried.
  void Attach(const std::string& worker, bool lacks_programs) {
    attached_[worker] = lacks_programs;
  }
  // It is to end: it takes no more packages, and is none where one could be tried.
  void Drain(const std::string& worker) { attached_.erase(worker); }
  void Lose(const std::string& worker);
  // "" for an attempt that nobody gave.
  std::string PackageOf(director::AttemptId attempt) const;
  // `is_tied`: it may have to go where it failed, since a result of it is to be proven elsewhere
  // than where that was made, or since it asks for what others have not.
  void Give(director::AttemptId attempt, const std::string& package, const std::string& worker,
            bool is_tied);
  // The attempt's worker was told that it is wanted no more, or is given up. The attempt may have
  // begun, and may kill its executor before it hears that.
  void TakeBack(director::AttemptId attempt);
  // The worker reports that the attempt ended through the package's own fault, `what`.
  void Tell(director::AttemptId attempt, const std::string& worker, std::string_view what);
  // The worker reports that what the attempt's package is made of changed.
  void TellStale(director::AttemptId attempt, const std::string& worker);

  // The packages are made of other content from now on.
  void Change(const std::set<std::string>& packages);
  void AddPlatforms();
  void Clear(const std::vector<std::string>& packages);

  // The director counts all faults that it was told of, and nothing else; but it stays one below
  // the limit until the package's present content had the last fault. `what`: the last fault; "":
  // it is forgiven.
  void CheckBlamed(const std::string& package, uint32_t own_faults, std::string_view what);
  // Faults on one machine may count as one, since workers on others are expected; or what a worker
  // told is not believed, since it broke the protocol.
  void MayCountLess() { may_count_less_ = true; }
  // The package failed for its own faults.
  void CheckQuarantined(const std::string& package);

 private:
  struct Package {
    uint32_t faults = 0;
    std::string what;  // the last one
    std::set<std::string> failed_on;
    uint32_t content = 0;         // how often what it is made of changed
    uint32_t chances = 0;         // how often it was given one, for that or for a platform
    bool is_condemned = false;    // the last fault that is allowed was one of its present content
    bool is_quarantined = false;  // and it was given no chance since
  };
  struct Given {
    std::string package;
    std::string worker;
    uint32_t content = 0;  // of the package, then
    uint32_t chances = 0;
    bool is_taken_back = false;
  };
  static void Renew(Package& package);
  // nullptr: this worker has no such attempt.
  const Given* GivenTo(director::AttemptId attempt, const std::string& worker) const;

  const uint32_t faults_max_;
  Checks& checks_;
  bool is_cooking_ = false, is_first_cook_ = true, may_count_less_ = false;
  std::map<std::string, Package> packages_;
  std::map<director::AttemptId, Given> given_;
  std::set<director::AttemptId> told_;    // to this director
  std::map<std::string, bool> attached_;  // worker -> whether it lacks programs
};

}  // namespace galley::simulation
