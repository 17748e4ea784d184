// FreePrograms: what a cook is told of programs that nothing kept from changing the project
// (ProgramRuns), and of what may be their work (ContentWatch). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace galley::director {

struct FreePrograms {
  // Workers whose machine does not let them keep programs from it, and the first one's reason.
  std::set<std::string> workers;
  std::string why;
  struct Change {
    std::string path;                   // virtual
    std::string what;                   // "changed", "is new", "is gone"
    std::vector<std::string> packages;  // whose programs ran then
  };
  std::vector<Change> changes;
  std::string blind;  // why changes were not watched; empty: they were
};

// That programs could change the project on these workers, and why; nullopt: on none.
std::optional<std::string> FreeProgramsText(const FreePrograms& programs);

// What changed in the content while such programs ran, one text for each file; at the end how many
// more there are. A person may have done it.
struct ProgramChange {
  std::string package;  // whose program it was, if it was one; else empty
  std::string text;
};
std::vector<ProgramChange> ProgramChanges(const FreePrograms& programs);

}  // namespace galley::director
