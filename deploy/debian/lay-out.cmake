# CPack runs this on what is to be packed (cmake/GalleyPackage.cmake): it adds what has a place on a Debian system only, and compresses as Debian does.
set(source ${CPACK_GALLEY_SOURCE_DIR})
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(doc ${root}/usr/share/doc/galley)

file(GLOB units ${source}/deploy/systemd/*.service)
file(COPY ${units} DESTINATION ${root}/lib/systemd/system)
file(MAKE_DIRECTORY ${root}/usr/lib/sysusers.d)
configure_file(${source}/deploy/systemd/galley.sysusers ${root}/usr/lib/sysusers.d/galley.conf COPYONLY)
file(COPY ${source}/deploy/systemd/store.conf DESTINATION ${root}/etc/galley)

# Where Debian's zsh looks.
file(RENAME ${root}/usr/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions)

# Examples, as they lie in the repository.
foreach(folder ci condor container kubernetes nginx slurm)
  file(COPY ${source}/deploy/${folder} DESTINATION ${doc}/examples)
endforeach()
file(COPY ${source}/deploy/systemd/worker.conf DESTINATION ${doc}/examples/systemd)
file(COPY ${source}/deploy/dev-certs DESTINATION ${doc}/examples)
file(COPY ${source}/deploy/debian/copyright DESTINATION ${doc})
file(REMOVE ${doc}/LICENSE)  # copyright says where Debian has it
file(COPY ${source}/deploy/debian/lintian-overrides DESTINATION ${root}/usr/share/lintian/overrides)
file(RENAME ${root}/usr/share/lintian/overrides/lintian-overrides ${root}/usr/share/lintian/overrides/galley)

set(man ${root}/usr/share/man/man1)
file(COPY ${source}/deploy/debian/galley-worker.1 DESTINATION ${man})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if that is set
file(WRITE ${doc}/changelog "galley (${CPACK_PACKAGE_VERSION}) bookworm; urgency=low\n\n  * Built from the repository; `git log` there says what changed.\n\n"
  " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9n ${man}/galley.1 ${man}/galley-worker.1 ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(CREATE_LINK galley.1.gz ${man}/galley-director.1.gz SYMBOLIC)
file(CREATE_LINK galley-worker.1.gz ${man}/galley-cook.1.gz SYMBOLIC)

# One date for all files, for the same bytes each time.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${root} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
# The umask of whoever packs is no matter.
execute_process(COMMAND find ${root} -type d -exec chmod 0755 {} + COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND find ${root} -type f -perm /0111 -exec chmod 0755 {} + COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND find ${root} -type f ! -perm /0111 -exec chmod 0644 {} + COMMAND_ERROR_IS_FATAL ANY)
