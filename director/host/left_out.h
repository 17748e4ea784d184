// Files that a scan found and no cook looks at: files that no rule matches, sidecars of files that
// are not there, sandboxes.
#pragma once

#include <string>
#include <vector>

#include "director/journal/journal.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// Files that are no packages, since no rule that matches names a cooker and they have no sidecar.
// Not among them: what a rule sets aside that says nothing but `match`, sidecars, galley.toml
// itself, what cannot be used (FileEntry::error), and what a package has read, as far as `journal`
// knows (null: nothing was cooked yet). Sorted by path.
std::vector<const content::FileEntry*> UnmatchedFiles(const project::Project& project,
                                                      const ProjectCatalog& table,
                                                      Journal* journal);

// For each sidecar without its file, sorted: the file it was for, and the likely new name of that
// file. Likely is the nearest name of the same folder and extension, else the same name elsewhere,
// if that has no sidecar of its own. Beyond kErrorsToldMax sidecars there is only their number.
std::vector<std::string> StraySidecars(const ProjectCatalog& table);

// Folders under the mounts that are sandboxes, and so are no content: their number, and the first
// of them, and what to do. Empty: there is none.
std::string SandboxesAmongContent(const content::Snapshot& snapshot);

}  // namespace galley::director
