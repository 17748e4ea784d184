// IdleNames: the names and patterns of galley.toml that name nothing: rules that match no file,
// mounts without a file, resources that no rule asks for, resources and labels that no machine
// has, cultures without a folder, patterns of map sections. Each is a warning with its place and
// the nearest names.
//
// A rule may be about generated packages, which no scan shows: `generated` has those that are known
// by now. A resource or a label that no launcher offers is told only where no worker can come that
// brings it ([farm] listen, launcher = "none").
//
// Cost: a comparison of each pattern with each file, until one matches; nearest names for the first
// ones only.
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/record/warning.h"
#include "director/journal/journal.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// Calls `visit` with each generated package that is known. It is asked only when that matters.
using VisitGenerated = std::function<void(const std::function<void(std::string_view)>& visit)>;

// `cultures`: of the command line, which count in place of those of galley.toml; empty: none.
std::vector<record::Warning> IdleNames(const project::Project& project, const ProjectCatalog& table,
                                       const VisitGenerated& generated,
                                       const std::vector<std::string>& cultures = {});

bool IsOfIdleNames(record::WarningKind kind);

// Those that `table` was asked about, and those of the packages that the journal knows (null: no
// cook has written one).
VisitGenerated GeneratedIn(const ProjectCatalog& table, Journal* journal);

// The same of patterns of `[cook] never`, as a command that cooks nothing sees them.
std::vector<record::Warning> IdleNever(const ProjectCatalog& table,
                                       const VisitGenerated& generated);

// "galley.toml:12: [cook] never: nothing matches ..."
record::Warning NeverWarning(const project::Pattern& never, const ProjectCatalog& table);

}  // namespace galley::director
