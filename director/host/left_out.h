// LeftOut: finds files of a scan that no cook looks at: files that no rule matches, sidecars
// without a file, sandboxes.
#pragma once

#include <string>
#include <vector>

#include "director/journal/journal.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// Returns files that are no packages, because no matching rule names a cooker and they have no
// sidecar. Sorted by path. Skips sidecars, galley.toml, files that a rule with only `match` sets
// aside, files that cannot be used (FileEntry::error), and files that a package has read, as far as
// the journal knows. `journal`: null: nothing was cooked yet.
std::vector<const content::FileEntry*> UnmatchedFiles(const project::Project& project,
                                                      const ProjectCatalog& table,
                                                      Journal* journal);

// Returns a text for each sidecar whose file is gone, sorted, with the likely new name of the file:
// the nearest name in the same folder with the same extension, or else the same name in another
// folder; never a file with a sidecar. Beyond kErrorsToldMax sidecars one text has the number of
// the rest.
std::vector<std::string> StraySidecars(const ProjectCatalog& table);

// Returns a text about folders under the mounts that are sandboxes, and so are no content, with
// what to do. Empty: there are none.
std::string SandboxesAmongContent(const content::Snapshot& snapshot);

}  // namespace galley::director
