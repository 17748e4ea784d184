// FreePrograms: the warnings of a cook about programs that ran without walls (UnwalledRuns), and
// about changes that these programs may have made (ContentWatch). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace galley::director {

struct FreePrograms {
  // Workers whose machines have no walls, and the reason of the first worker.
  std::set<std::string> workers;
  std::string why;
  struct Change {
    std::string path;                   // virtual
    std::string what;                   // "changed", "is new", "is gone"
    std::vector<std::string> packages;  // packages whose programs ran at that time
  };
  std::vector<Change> changes;
  std::string blind;  // why changes were not watched; empty: they were watched
};

// Returns a text about the workers on which programs could change the project; nullopt: none.
std::optional<std::string> FreeProgramsText(const FreePrograms& programs);

// ProgramChange: a text about a change of the content while programs without walls ran.
struct ProgramChange {
  std::string package;  // the package whose program ran; empty: programs of several packages ran
  std::string text;
};
// Returns one text for each changed file, up to a limit, and then a text with the number of further
// files. A person may have made the changes.
std::vector<ProgramChange> ProgramChanges(const FreePrograms& programs);

}  // namespace galley::director
