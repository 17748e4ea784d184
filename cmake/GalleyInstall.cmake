# `cmake --install build --prefix DIR`: DIR/bin has the programs, which find one another beside themselves and need nothing else of this repository;
# DIR/share/doc/galley has the documentation, in the same places as here, and the licence. DIR/share has the man page and the completions of shells.
include(GNUInstallDirs)
install(TARGETS galley galley-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# What `galley serve --metrics` loads: the programs look for it in ../lib/galley.
install(TARGETS galley_metrics_exporter LIBRARY DESTINATION lib/galley)
# Links to them, as in the build folder.
install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/galley-cook ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/galley-director DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)
# The man page and the completions of shells: the program prints them itself, for the folder FILE lies in.
function(galley_install_printed FILE)
  string(REPLACE ";" " " words "${ARGN}")
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${FILE}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \${file}\")
    execute_process(COMMAND \"${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/galley\" ${words}
      OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD \"\${file}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)")
endfunction()
galley_install_printed(${CMAKE_INSTALL_MANDIR}/man1/galley.1 --man)
galley_install_printed(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/galley completion bash)
galley_install_printed(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_galley completion zsh)
galley_install_printed(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/galley.fish completion fish)
