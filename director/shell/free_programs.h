// FreePrograms: what a cook is told of programs that nothing kept from changing the project
// (ProgramRuns), and of changes that these programs may have made (ContentWatch). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace galley::director {

struct FreePrograms {
  // Workers whose machine does not let them keep programs from changing the project, and the reason
  // of the first worker.
  std::set<std::string> workers;
  std::string why;
  struct Change {
    std::string path;                   // virtual
    std::string what;                   // "changed", "is new", "is gone"
    std::vector<std::string> packages;  // packages whose programs ran then
  };
  std::vector<Change> changes;
  std::string blind;  // why changes were not watched; empty: changes were watched
};

// Says on which workers programs could change the project, and why; nullopt: on none.
std::optional<std::string> FreeProgramsText(const FreePrograms& programs);

// Says what changed in the content while such programs ran: one text for each file, and a last text
// with the number of further files. A person may have changed the files.
struct ProgramChange {
  std::string package;  // whose program ran, if only one did; otherwise empty
  std::string text;
};
std::vector<ProgramChange> ProgramChanges(const FreePrograms& programs);

}  // namespace galley::director
