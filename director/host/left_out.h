// LeftOut: files that a scan found and no cook looks at: files that no rule matches, sidecars
// without a file, sandboxes.
#pragma once

#include <string>
#include <vector>

#include "director/journal/journal.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// Returns files that are no packages, because no rule that matches names a cooker and they have no
// sidecar. Left out: files that a rule with nothing but `match` sets aside, sidecars, galley.toml
// itself, files that cannot be used (FileEntry::error), and files that a package has read, as far
// as `journal` knows (null: nothing was cooked yet). Sorted by path.
std::vector<const content::FileEntry*> UnmatchedFiles(const project::Project& project,
                                                      const ProjectCatalog& table,
                                                      Journal* journal);

// Returns for each sidecar without its file, sorted: the file that it was for, and the likely new
// name of that file. The likely name is the nearest name of the same folder and extension, or else
// the same name elsewhere, if that file has no sidecar of its own. Beyond kErrorsToldMax sidecars
// there is only their number.
std::vector<std::string> StraySidecars(const ProjectCatalog& table);

// Tells of folders under the mounts that are sandboxes, and so are no content: their number, the
// first folder, and what to do. Empty: there is none.
std::string SandboxesAmongContent(const content::Snapshot& snapshot);

}  // namespace galley::director
