// Self-hosted. A browser loads only the files whose letters a page shows.
import '@fontsource-variable/inter/wght.css'
import '@fontsource/jetbrains-mono/400.css'
import '@fontsource/source-serif-4/600.css'
