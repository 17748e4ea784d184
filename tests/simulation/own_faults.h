// OwnFaults: I8 to the letter. At most so many attempts at a package end through its own fault,
// each on another worker while there is one where none did; then it is quarantined, and is not
// tried again before
//   - what it is made of changes (its file, or what it reads), which gives the new content one
//     chance, or
//   - a platform is added, which gives it one more, or
//   - it is cleared, which forgives all, or the next cook begins.
// A fault of an attempt that was given before such a change counts, but does not quarantine what it
// is made of now: a package fails for its own faults only after one of its present content.
//
// A fault is counted when a director is told of it, and once: nobody can count the deaths of
// executors whose worker is lost before it told of them. Nor can anybody prevent that of an attempt
// that was taken back and has not heard so yet: it is one more than is allowed. What a director was
// told and had not written when it died the next one does not know, so that the count begins there
// with what the journal says.
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

  // A director begins, with what its journal tells of the cook before it; `changed` while there was
  // none.
  void BeginTerm(const std::vector<director::BlameRecord>& remembered,
                 const std::vector<std::string>& changed);
  // The first cook of a term goes on with the counts of the one before.
  void BeginCook();
  void EndCook() { is_cooking_ = false; }

  void Attach(const std::string& worker) { attached_.insert(worker); }
  void Lose(const std::string& worker);
  void Give(director::AttemptId attempt, const std::string& package, const std::string& worker);
  // Its worker was told that it is wanted no more, or is given up; it may have begun, and kill
  // before it hears that.
  void TakeBack(director::AttemptId attempt);
  // The attempt ended through the package's own fault, says its worker: this.
  void Tell(director::AttemptId attempt, const std::string& worker, std::string_view what);
  // It found that what its package is made of changed.
  void TellStale(director::AttemptId attempt, const std::string& worker);

  // What these are made of is not what it was.
  void Change(const std::set<std::string>& packages);
  void AddPlatforms();
  void Clear(const std::vector<std::string>& packages);

  // Of what was told the director counts all, and nothing else; but for the next one less than the
  // last fault, until what the package is made of now had that. `what`: the last one; "": it is
  // forgiven.
  void CheckBlamed(const std::string& package, uint32_t own_faults, std::string_view what);
  // It failed for its own faults.
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
  // nullptr: it is none of this worker's.
  const Given* GivenTo(director::AttemptId attempt, const std::string& worker) const;

  const uint32_t faults_max_;
  Checks& checks_;
  bool is_cooking_ = false, is_first_cook_ = true;
  std::map<std::string, Package> packages_;
  std::map<director::AttemptId, Given> given_;
  std::set<director::AttemptId> told_;  // to this director
  std::set<std::string> attached_;
};

}  // namespace galley::simulation
