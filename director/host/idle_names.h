// IdleNames: warns of names and patterns of galley.toml that name nothing: rules that match no
// file, mounts without a file, resources that no rule asks for, resources and labels that no
// machine has, cultures without a folder, patterns of map sections. Also warns of keys that have no
// effect any more. Each warning has its place and the nearest names.
//
// A rule may be about generated packages, which no scan finds: `generated` has the generated
// packages that are known so far. A resource or label that no launcher offers is told only if no
// other worker can attach that may offer it ([farm] listen, launcher = "none").
//
// Cost: compares each pattern with the files until a file matches; looks for nearest names only for
// the first warnings.
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/record/warning.h"
#include "director/journal/journal.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// VisitGenerated: calls `visit` with each known generated package. Called only if needed.
using VisitGenerated = std::function<void(const std::function<void(std::string_view)>& visit)>;

// Returns the warnings. `cultures`: cultures of the command line, in place of those of galley.toml;
// empty: none.
std::vector<record::Warning> IdleNames(const project::Project& project, const ProjectCatalog& table,
                                       const VisitGenerated& generated,
                                       const std::vector<std::string>& cultures = {});

bool IsOfIdleNames(record::WarningKind kind);

// Returns a visitor of the generated packages of `table` and of the journal. `journal`: null: there
// was no cook yet.
VisitGenerated GeneratedIn(const ProjectCatalog& table, Journal* journal);

// Returns the warnings for patterns of `[cook] never`, for a command that cooks nothing.
std::vector<record::Warning> IdleNever(const ProjectCatalog& table,
                                       const VisitGenerated& generated);

// Returns "galley.toml:12: [cook] never: nothing matches ...".
record::Warning NeverWarning(const project::Pattern& never, const ProjectCatalog& table);

}  // namespace galley::director
